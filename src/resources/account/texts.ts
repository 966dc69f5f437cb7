/** Descriptions that the types and the inputs of an account share. */
export const accountTexts = {
  details: 'The business: its name, legal form, contact, identifiers and activity.',
  nickname: 'A name of your choice, unique within the tenant and mode; capitals and small letters count as the same.',
  logoId: 'The id of a file of purpose LOGO. The logo is shown in communications with partners.',
  supportingDocumentation: 'The ids of the files that support the verification of the account.',
  tosAcceptance: 'When, from where and with what the user accepted the terms of service.',
} as const;

/** Descriptions of the details of a business. Spec: Account, `business_details`. */
export const businessTexts = {
  legalName: 'The registered name of the business, such as `Acme Exports Private Limited`.',
  dba: 'The name under which the business trades ("doing business as"), if it differs from the legal name.',
  email: 'The e-mail address of the business, such as `accounts@acme.example`.',
  website: 'The web address of the business, such as `https://acme.example`.',
  dateOfIncorporation: 'The date on which the business was incorporated, as YYYY-MM-DD, such as `2014-04-01`.',
  type: 'The legal form of the business.',
  ids: 'The identifiers of the business, such as its tax id.',
  physicalAddress: 'The postal address at which the business is located.',
  merchantCategoryCode: 'The merchant category code (MCC) of the business: four digits, such as `5131`.',
  merchantSize: 'The size of the business, as text, such as `small`.',
  productCategory: 'The category of what the business sells, as text, such as `apparel`.',
  productDescription: 'What the business sells, as text.',
  estimatedMonthlyVolume: 'The amount that the business expects to receive in a month. Edition 1 only.',
} as const;

/** Descriptions of the identifiers of a business. */
export const businessIdTexts = {
  business: 'The identification number of the company or limited liability partnership.',
  tax: 'The tax id of the business.',
  taxDeduction: 'The id under which the business deducts tax at source.',
  taxGst: 'The GST id of the business.',
  taxTrade: 'The tax id of the business for foreign trade.',
} as const;

/** Descriptions of the parts of a postal address. */
export const addressTexts = {
  line1: 'The first line of the address: building and street.',
  line2: 'The second line of the address, such as a floor or a suite.',
  city: 'The city or town.',
  state: 'The state, province or region.',
  postalCode: 'The postal code, such as `400001` or `94107`.',
  country: 'The country, as two letters of ISO 3166-1, such as `US`.',
} as const;

/** Descriptions of an amount in a month. */
export const volumeTexts = {
  amount: 'The amount in a month.',
  currency: 'The currency of the amount, such as `USD`.',
} as const;

/** Descriptions of the documents that support an account. Spec: Account, `supporting_documentation`. */
export const documentTexts = {
  idDocument: 'The id of a file that proves the identity of the business, such as its incorporation certificate.',
  ownershipStructureDocument: 'The id of a file that shows who owns the business. Edition 1 only.',
  physicalAddressDocument: 'The id of a file that proves the physical address. Edition 2 only.',
} as const;

/** Descriptions of the acceptance of the terms of service. */
export const acceptanceTexts = {
  ip: 'The IP address from which the terms were accepted, such as `203.0.113.7`.',
  time: 'When the terms were accepted.',
  userAgent: 'The `User-Agent` of the browser with which the terms were accepted.',
} as const;
