/** Descriptions of the parts of an invoice, which its type and its input share. Spec: Receivable, `invoice`. */
export const invoiceTexts = {
  amount: 'The amount of the invoice.',
  creationDate: 'The date of the invoice.',
  currency: 'The currency of the invoice.',
  document: 'The id of a file of purpose INVOICE.',
  dueDate: 'The date on which the invoice is due; the date of the invoice or later.',
  referenceNumber: 'The number of the invoice, such as `INV-1042`.',
} as const;
