import { type FormEvent, useId, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { decimal, formatMoney, hundredths, typedAmount } from '../../format/money';
import { formatDay } from '../../format/time';
import { words } from '../../format/words';
import { useDebounced } from '../../graph/find';
import { graphql } from '../../graph/graphql';
import { type Failure, useWrite } from '../../graph/write';
import { Empty } from '../../parts/empty';
import { useFilters } from '../../parts/filters';
import { Card } from '../../parts/page';
import { Pending, Problem } from '../../parts/problem';
import { NameFragment, nameOf } from '../../session';
import { NewReceivable } from './new-receivable';
import type { PaymentDetail } from './query';
import { type Candidate, fitting, reasonWords, type Suggestion, suggestionsFor } from './suggestions';

const CandidateFragment = graphql(
  `
    fragment Candidate on Receivable {
      id currency status amountReconcilable
      account { id }
      customer { ...Name }
      invoice { referenceNumber dueDate }
    }
  `,
  [NameFragment],
);

const CandidatesQuery = graphql(
  `
    query ReceivablesToReconcile($id: ID!, $accountId: ID!, $currency: [Currency!]) {
      deposit(id: $id) {
        id
        receivableMatches { reasons receivable { ...Candidate } }
      }
      receivables(filter: { accountId: $accountId, currency: $currency, status: [OPEN] }, first: 100) {
        nodes { ...Candidate }
        pageInfo { hasNextPage }
      }
    }
  `,
  [CandidateFragment],
);

const FoundQuery = graphql(
  `
    query FindReceivables($search: String!) {
      receivables(search: $search, first: 25) { nodes { ...Candidate } }
    }
  `,
  [CandidateFragment],
);

export const ReconcileMutation = graphql(`
  mutation Reconcile($input: ReconcileDepositInput!) {
    reconcileDeposit(input: $input) {
      deposit { id status pendingRest receivables { id status } }
    }
  }
`);

/** How many receivables are shown before the viewer searches. */
const shown = 5;

/** The account whose receivables a payment can pay: the user that received it, or that owns the receiving partner. */
function payeeOf({ toAccount, fromAccount }: PaymentDetail): string | undefined {
  if (toAccount?.type === 'PARTNER') return toAccount.owner?.id;
  return toAccount?.id ?? fromAccount?.owner?.id;
}

/**
 * The open receivables that a payment can pay: those that it may pay, the newest ones, and where there are more than a
 * page those that are sought. What was found once stays, since it may have been chosen.
 */
function useCandidates(payment: PaymentDetail, filter: string) {
  const accountId = payeeOf(payment);
  const { id, currency } = payment;
  const [{ data, error }] = useQuery({
    query: CandidatesQuery,
    variables: { id, accountId: accountId ?? '', currency: [currency] },
    pause: accountId === undefined,
    // A receivable that was just made for the payment is in no earlier answer.
    requestPolicy: 'network-only',
  });
  const search = useDebounced(filter);
  const pause = !data?.receivables?.pageInfo.hasNextPage || search === '';
  const [{ data: found, error: notFound }] = useQuery({ query: FoundQuery, variables: { search }, pause });
  const known = useRef({ data, candidates: new Map<string, Candidate>() });
  // A new answer has what was reconciled meanwhile.
  if (known.current.data !== data) known.current = { data, candidates: new Map() };
  const { candidates } = known.current;
  const matches = data?.deposit?.receivableMatches ?? [];
  const matched = matches.map(({ receivable }) => receivable);
  for (const each of [...matched, ...(data?.receivables?.nodes ?? []), ...(found?.receivables?.nodes ?? [])]) {
    const mine = each.account.id === accountId && each.currency === currency && each.status === 'OPEN';
    if (mine && hundredths(each.amountReconcilable) > 0n) candidates.set(each.id, each);
    else candidates.delete(each.id);
  }
  return {
    open: data?.receivables ? suggestionsFor(matches, [...candidates.values()]) : undefined,
    error: error ?? (pause ? undefined : notFound),
  };
}

/** Counts what is left of a payment towards receivables. The best matches come first. */
export function Reconcile({ payment, onDone }: { payment: PaymentDetail; onDone: (sentence: string) => void }) {
  const [filter, setFilter] = useState('');
  const { open, error } = useCandidates(payment, filter);
  return (
    <Card
      title="Reconcile"
      action={<span className="count">{formatMoney({ ...payment, amount: payment.pendingRest })} to reconcile</span>}
    >
      {!open && <Pending result={{ error }} lines={4} />}
      {open && error && <Problem error={error} />}
      {open?.length === 0 && (
        <Empty title={`No open receivable in ${payment.currency}`}>
          <p>Create a receivable for the invoice that this payment pays, then reconcile it here.</p>
          <NewReceivable paymentId={payment.id} className="button" />
        </Empty>
      )}
      {open && open.length > 0 && <Form payment={payment} suggestions={open} {...{ filter, setFilter, onDone }} />}
    </Card>
  );
}

interface FormProps {
  payment: PaymentDetail;
  suggestions: Suggestion[];
  filter: string;
  setFilter: (filter: string) => void;
  /** Gets what has been done, which is to be said after the form is gone, too. */
  onDone: (sentence: string) => void;
}

/** The suggestions that are shown: those that are chosen, and the first ones or those whose numbers are sought. */
function visibleOf(suggestions: Suggestion[], chosen: ReadonlyMap<string, string>, filter: string) {
  const found = suggestions.filter(
    ({ receivable: { id, invoice } }) =>
      chosen.has(id) || invoice.referenceNumber.toLowerCase().includes(filter.toLowerCase()),
  );
  return found.filter(({ receivable }, i) => filter !== '' || i < shown || chosen.has(receivable.id));
}

/** What is chosen at first: the receivable that was just made for the payment. */
function firstOf(payment: PaymentDetail, suggestions: Suggestion[], madeId: string | null) {
  const made = suggestions.find(({ receivable }) => receivable.id === madeId);
  if (!made) return new Map<string, string>();
  return new Map([[made.receivable.id, decimal(fitting(hundredths(payment.pendingRest), made.receivable))]]);
}

function Form({ payment, suggestions, filter, setFilter, onDone }: FormProps) {
  const madeId = useFilters().params.get('receivable');
  const { write, pending, failure } = useWrite(ReconcileMutation);
  // The chosen receivables in the order of their choice, with the amounts as they were typed.
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(() => firstOf(payment, suggestions, madeId));
  const [sent, setSent] = useState<string[]>([]);
  const [done, setDone] = useState<string>();
  const hint = useId();
  const none = chosen.size === 0;
  const total = [...chosen.values()].reduce((all, amount) => all + hundredths(typedAmount(amount)), 0n);
  const rest = hundredths(payment.pendingRest) - total;
  const visible = visibleOf(suggestions, chosen, filter);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setSent([...chosen.keys()]);
    const receivables = [...chosen].map(([id, amount]) => ({ id, amount: typedAmount(amount) }));
    const answer = await write({ input: { id: payment.id, receivables } });
    if (!answer) return;
    const sentence = sentenceOf(payment, total, suggestions, chosen);
    setDone(`${sentence} Choose another invoice for the rest.`);
    onDone(sentence);
    setChosen(new Map());
    setFilter('');
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      {suggestions.length > shown && (
        <div className="field reconcile-filter">
          <label htmlFor="reference-filter">Find by invoice number</label>
          <input id="reference-filter" value={filter} onChange={(event) => setFilter(event.target.value)} />
        </div>
      )}
      <ul className="reconcile">
        {visible.map((suggestion) => (
          <Line
            key={suggestion.receivable.id}
            suggestion={suggestion}
            amount={chosen.get(suggestion.receivable.id)}
            error={failure && errorOf(failure, sent.indexOf(suggestion.receivable.id), suggestion)}
            onChange={(amount) => setChosen(withAmount(chosen, suggestion, amount))}
            fill={decimal(fitting(rest > 0n ? rest : 0n, suggestion.receivable))}
          />
        ))}
      </ul>
      {visible.length === 0 && <p className="hint">No open receivable has this number.</p>}
      {failure && <Problem error={withoutLines(failure)} />}
      <div className="reconcile-end">
        <span className={rest < 0n ? 'field-error' : 'hint'} role="status" id={hint}>
          {none ? (done ?? 'Choose an invoice that the payment pays.') : restOf(payment, rest)}
        </span>
        <NewReceivable paymentId={payment.id} className="button" />
        <button type="submit" className="button primary" disabled={pending || none} aria-describedby={hint}>
          {pending
            ? 'Reconciling …'
            : `Reconcile${none ? '' : ` ${formatMoney({ ...payment, amount: decimal(total) })}`}`}
        </button>
      </div>
    </form>
  );
}

/** What is chosen after a change of the amount of a receivable; without one it is not chosen. */
function withAmount(chosen: ReadonlyMap<string, string>, { receivable }: Suggestion, amount: string | null) {
  const next = new Map(chosen);
  if (amount === null) next.delete(receivable.id);
  else next.set(receivable.id, amount);
  return next;
}

/** What has been done, for the viewer. */
function sentenceOf(payment: PaymentDetail, total: bigint, all: Suggestion[], chosen: ReadonlyMap<string, string>) {
  const names = all.flatMap(({ receivable: { id, invoice } }) => (chosen.has(id) ? invoice.referenceNumber : []));
  return `${formatMoney({ ...payment, amount: decimal(total) })} reconciled with ${names.join(', ')}.`;
}

function restOf(payment: PaymentDetail, rest: bigint): string {
  if (rest < 0n) return 'More than the payment has';
  return `${formatMoney({ ...payment, amount: decimal(rest) })} left`;
}

/** The error of the receivable at a place of the request, with the figure that an amount exceeds. */
function errorOf({ fields, codes }: Failure, place: number, { receivable }: Suggestion): string | undefined {
  const start = `receivables.${place}`;
  const [path, message] = Object.entries(fields).find(([at]) => at === start || at.startsWith(`${start}.`)) ?? [];
  if (path === undefined || codes?.[path] !== 'amount_exceeds_reconcilable') return message;
  const { amountReconcilable: amount, currency, invoice } = receivable;
  return `At most ${formatMoney({ amount, currency })} is open on ${invoice.referenceNumber}.`;
}

/** The messages that no line of the form shows. */
function withoutLines(failure: Failure): Failure {
  const others = Object.entries(failure.fields).filter(([path]) => !/^receivables\.\d/.test(path));
  return { ...failure, messages: [...failure.messages, ...others.map(([, message]) => message)] };
}

interface LineProps {
  suggestion: Suggestion;
  amount: string | undefined;
  error: string | undefined;
  fill: string;
  onChange: (amount: string | null) => void;
}

function Line({ suggestion: { receivable, reasons }, amount, error, fill, onChange }: LineProps) {
  const { id, currency, amountReconcilable, customer, invoice } = receivable;
  return (
    <li>
      <label className="reconcile-choice">
        <input
          type="checkbox"
          checked={amount !== undefined}
          onChange={(event) => onChange(event.target.checked ? fill : null)}
        />
        <span className="two-lines">
          <strong>{invoice.referenceNumber}</strong>
          <span className="hint">
            {customer && `${nameOf(customer)} · `}due {formatDay(invoice.dueDate)} ·{' '}
            {formatMoney({ amount: amountReconcilable, currency })} open
          </span>
        </span>
      </label>
      <span className="reasons">
        {reasons.map((reason) => (
          <span className="status good" key={reason}>
            {reasonWords[reason] ?? words(reason)}
          </span>
        ))}
      </span>
      {amount !== undefined && (
        <span className="reconcile-amount">
          <input
            inputMode="decimal"
            aria-label={`Amount for ${invoice.referenceNumber}`}
            aria-invalid={error !== undefined}
            aria-describedby={error && `${id}-error`}
            value={amount}
            onChange={(event) => onChange(event.target.value.trim())}
          />
          {error && (
            <span className="field-error" id={`${id}-error`} role="alert">
              {error}
            </span>
          )}
        </span>
      )}
    </li>
  );
}
