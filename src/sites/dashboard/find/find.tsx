import { type Answer, FindDialog } from './box';
import { useFound } from './found';
import { readText, textLengthMax } from './query';

/** The box of the dashboard, which finds what the viewer can see. */
export function Find({ onClose }: { onClose: () => void }) {
  return (
    <FindDialog
      label="Id, bank reference, amount, invoice number or name"
      textLengthMax={textLengthMax}
      useAnswer={useFound}
      said={said}
      onClose={onClose}
    />
  );
}

/** What the box says below its hits, and where it has looked when it has none. */
function said(text: string, answer: Answer | undefined): string {
  if (text === '') return 'Type for example UTR123456789, 393.27, INV-5001, or the id of a payment.';
  const { id, isOtherId, amount, words } = readText(text);
  if (isOtherId) return 'This kind of object cannot be found by its id.';
  if (id === undefined && words === undefined) return 'Type a letter or a digit.';
  if (!answer) return 'Looking …';
  if (answer.error) return '';
  if (answer.more) return 'There are more. Type more of what you look for, or search in a list.';
  if (answer.hits.length > 0) return '';
  if (id !== undefined) return 'Nothing that you can see has this id.';
  const texts =
    "the payers, descriptions and banks' references of payments, the banks' references of payouts, " +
    'invoice numbers or accounts';
  const end = amount === undefined ? '.' : ', and no payment, invoice or payout has this amount.';
  return `Nothing was found in ${texts}${end}`;
}
