import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { formatMoney } from '../../format/money';
import { formatDay, useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { payerOf, textOfPayment } from '../../graph/payer';
import { sent } from '../../graph/sent';
import { Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { usePlace } from '../../parts/pager';
import type { Column } from '../../parts/table';
import { nameOf, useMayWrite } from '../../session';
import { Foot, useMatching } from './matching';
import { NewReceivable } from './new-receivable';
import { type Filters, type OpenPayment, ToReconcileQuery } from './query';
import { reasonWords } from './suggestions';

/** The payments that count towards no invoice yet, each with the invoice that it may pay. */
export function ToReconcile({ filters, filtered }: { filters: Filters; filtered: boolean }) {
  const { created, method, currency, account } = filters;
  const result = useLive(ToReconcileQuery, { ...sent({ created, method, currency, account }), ...usePlace() });
  const page = result.data?.deposits;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useMade(page?.nodes, (id) => tick(id, true));
  const matching = useMatching(
    () => setChosen(new Set()),
    (undone) => setChosen((before) => new Set([...before, ...undone.map(({ payment }) => payment.id)])),
  );
  // What waits or is being sent stays chosen, and cannot be changed.
  const { stage, pairs: underWay = [] } = matching.round ?? {};
  const fixed = new Set(stage === 'unsent' ? [] : underWay.map(({ payment }) => payment.id));
  const pairs = (page?.nodes ?? []).flatMap((payment) => {
    const [match] = payment.receivableMatches ?? [];
    return match && chosen.has(payment.id) && !fixed.has(payment.id) ? [{ payment, match }] : [];
  });
  const exact = exactOf(page?.nodes ?? []);
  const tick = (id: string, to: boolean) =>
    setChosen((before) => new Set(to ? [...before, id] : [...before].filter((each) => each !== id)));
  const columns = useColumns(chosen, fixed, tick);
  const mayWrite = useMayWrite();
  const found = page?.nodes.some(({ receivableMatches }) => receivableMatches && receivableMatches.length > 0);
  return (
    <div className="matching" onKeyDown={useKeys(tick)}>
      <List
        label="Payments"
        result={result}
        page={page}
        columns={columns}
        href={({ id }) => `/payments/${id}`}
        empty={<NothingOpen filtered={filtered} />}
      />
      {mayWrite && (found || matching.round || matching.done) && (
        <Foot
          {...matching}
          pairs={pairs}
          exact={exact.length}
          onExact={() => setChosen(new Set(exact))}
          onNone={() => setChosen(new Set())}
        />
      )}
    </div>
  );
}

/** Chooses the payment for which a receivable was just made, if that is the best match of it. */
function useMade(payments: readonly OpenPayment[] | undefined, choose: (id: string) => void) {
  const { params, set } = useFilters();
  const [paymentId, receivableId] = [params.get('payment'), params.get('receivable')];
  const made = payments?.find(({ id }) => id === paymentId)?.receivableMatches?.[0]?.receivable.id;
  const take = useEffectEvent((id: string) => {
    choose(id);
    set({ payment: null, receivable: null }, { replace: true });
  });
  useEffect(() => {
    if (paymentId && made && made === receivableId) take(paymentId);
  }, [paymentId, made, receivableId]);
}

/** The payments that have an exact match: of several with the same receivable, the oldest. */
function exactOf(payments: readonly OpenPayment[]): string[] {
  const taken = new Map<string, string>();
  for (const { id, receivableMatches } of payments.toReversed()) {
    const [match] = receivableMatches ?? [];
    if (match?.exact && !taken.has(match.receivable.id)) taken.set(match.receivable.id, id);
  }
  return [...taken.values()];
}

/**
 * Keys of the list, on a row: j and k or the arrows go to the next and the one before, Enter chooses and goes on, and e
 * opens the payment.
 */
function useKeys(tick: (id: string, to: boolean) => void) {
  const [, go] = useLocation();
  return (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    const box = target.closest<HTMLInputElement>('input[data-payment]');
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    const boxes = [...event.currentTarget.querySelectorAll<HTMLInputElement>('input[data-payment]:enabled')];
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, Enter: 1 }[event.key];
    const id = box.dataset.payment!;
    if (event.key === 'e') go(`/payments/${id}`);
    if (event.key === 'Enter') tick(id, !box.checked);
    if (step === undefined && event.key !== 'e') return;
    event.preventDefault();
    event.stopPropagation();
    boxes[boxes.indexOf(box) + (step ?? 0)]?.focus();
  };
}

function useColumns(
  chosen: ReadonlySet<string>,
  fixed: ReadonlySet<string>,
  tick: (id: string, to: boolean) => void,
): Column<OpenPayment>[] {
  const time = useTimes();
  const mayWrite = useMayWrite();
  return [
    {
      head: 'From',
      cell: (payment) => <Two hint={textOfPayment(payment)}>{payerOf(payment)}</Two>,
    },
    { head: 'To', cell: ({ toAccount }) => toAccount && nameOf(toAccount) },
    { head: 'Received', cell: ({ created }) => time(created), line: true },
    {
      head: 'Invoice',
      cell: (payment) => (
        <Suggested
          payment={payment}
          checked={chosen.has(payment.id) || fixed.has(payment.id)}
          fixed={fixed.has(payment.id)}
          onChange={mayWrite ? (to) => tick(payment.id, to) : undefined}
        />
      ),
      plain: true,
    },
    {
      head: 'Left',
      cell: ({ amount, pendingRest, currency }) => (
        <span className="two-lines">
          <Money amount={pendingRest} currency={currency} />
          {amount !== pendingRest && <span className="hint">of {formatMoney({ amount, currency })}</span>}
        </span>
      ),
      end: true,
      plain: true,
    },
  ];
}

interface SuggestedProps {
  payment: OpenPayment;
  checked: boolean;
  /** Whether the choice cannot be changed. */
  fixed: boolean;
  onChange: ((to: boolean) => void) | undefined;
}

/** The invoice that a payment may pay, and why. Those who may only read choose nothing. */
function Suggested({ payment, checked, fixed, onChange }: SuggestedProps) {
  const [match] = payment.receivableMatches ?? [];
  if (!match)
    return (
      <span className="two-lines">
        <span className="hint">No invoice found</span>
        {onChange && <NewReceivable paymentId={payment.id} fromList className="button small" />}
      </span>
    );
  const { referenceNumber, dueDate } = match.receivable.invoice;
  const part = match.amount.amount !== payment.pendingRest && formatMoney(match.amount);
  const text = (
    <span className="two-lines">
      <span className="reasons">
        <strong>{referenceNumber}</strong>
        {match.exact && <span className="status good">Exact</span>}
        {!match.exact &&
          match.reasons.map((reason) => (
            <span className="status" key={reason}>
              {reasonWords[reason] ?? words(reason)}
            </span>
          ))}
      </span>
      <span className="hint">
        due {formatDay(dueDate)}
        {part && ` · ${part}`}
      </span>
    </span>
  );
  if (!onChange) return text;
  return (
    <label className="matching-choice">
      <input
        type="checkbox"
        data-payment={payment.id}
        checked={checked}
        disabled={fixed}
        aria-label={`Match ${formatMoney({ ...payment, amount: payment.pendingRest })} with ${referenceNumber}`}
        onChange={(event) => onChange(event.target.checked)}
      />
      {text}
    </label>
  );
}

function NothingOpen({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty title="No payment matches">
      <ClearFilters />
    </Empty>
  ) : (
    <Empty title="Nothing waits for an invoice" />
  );
}
