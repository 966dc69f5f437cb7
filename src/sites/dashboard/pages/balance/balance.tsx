import { Download, Printer } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { placeOf } from '../../format/countries';
import { csvLine } from '../../format/csv';
import { dayOf } from '../../format/days';
import { isMonth, monthAfter, monthName, rangeOfMonth } from '../../format/months';
import { useTimeZone } from '../../format/preferences';
import { gatewayNow, useTimes } from '../../format/time';
import { counted } from '../../format/words';
import { save } from '../../graph/files';
import { useLive } from '../../graph/live';
import { pagesOf } from '../../graph/pages';
import { failureOf } from '../../graph/write';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { Pager } from '../../parts/pager';
import { Letterhead } from '../../parts/letterhead';
import { Card, Page } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Pending, Problem } from '../../parts/problem';
import { currencyOf } from '../../format/money';
import { nameOfZone } from '../../format/zones';
import { nameOf, useSession } from '../../session';
import { Movements } from './movements';
import { type AccountOfStatement, type Movement, MovementsQuery, ofRange, type Range, StatementQuery } from './query';
import { Summary } from './summary';
import { movementWords } from './words';

/** How many months can be chosen. */
const monthsShown = 36;

/** The statement of account of a month: what there was, what came in and went out, and what there is. */
export function Balance() {
  const { params } = useFilters();
  const { viewer } = useSession();
  const timeZone = useTimeZone();
  const present = dayOf(gatewayNow(), timeZone).slice(0, 7);
  const months = Array.from({ length: monthsShown }, (_, i) => monthAfter(present, -1 - i));
  const chosen = params.get('month') ?? '';
  const month = isMonth(chosen) && chosen <= present ? chosen : present;
  const currency = /^[A-Z]{3}$/.test(params.get('currency') ?? '')
    ? params.get('currency')!
    : currencyOf(viewer.edition);
  const range = useMemo(() => ({ ...rangeOfMonth(month, timeZone), currency }), [month, timeZone, currency]);
  const result = useLive(StatementQuery, range);
  const account = result.data?.viewer.account;
  const shown = ofRange(account?.balanceStatement, range);
  const whole = useWhole(range);
  const title = `statement-${month}-${currency}`;
  const currencies = new Set([currency, ...(account?.balance?.available ?? []).map((each) => each.currency)]);
  return (
    <Page title="Balance" actions={<Actions whole={whole} title={title} />}>
      <FilterBar shown>
        <Choice
          label="Month"
          name="month"
          values={months}
          names={Object.fromEntries(months.map((each) => [each, monthName(each)]))}
          none={monthName(present)}
        />
        <Choice
          label="Currency"
          name="currency"
          values={[...currencies].filter((each) => each !== currencyOf(viewer.edition)).toSorted()}
          none={currencyOf(viewer.edition)}
        />
      </FilterBar>
      {whole.error && <Problem error={failureOf(whole.error)} />}
      <Answered answer={result}>
        <div className="statement balance-statement">
          <Head {...{ account, month, timeZone, currency }} />
          <Part value={shown} field="viewer.account.balanceStatement" title="Statement" lines={6}>
            {(statement) => (
              <Summary
                {...{ statement, currency }}
                title={monthName(month)}
                ended={Date.parse(statement.asOf) >= Date.parse(range.to)}
              />
            )}
          </Part>
          {shown && <Rows range={range} printed={whole.printed} />}
        </div>
      </Answered>
    </Page>
  );
}

/** The movements of the month: a page of them, or all while they are printed. */
function Rows({ range, printed }: { range: Range; printed: readonly Movement[] | null }) {
  const { params } = useFilters();
  const result = useLive(MovementsQuery, { ...range, first: 25, after: params.get('after') });
  const page = ofRange(result.data?.viewer.account.balanceStatement, range)?.movements;
  return (
    <Card title="Movements" action={<span className="hint">the oldest first</span>}>
      {result.error && page && <Problem error={result.error} onRetry={result.ask} />}
      {page || printed ? <Movements rows={printed ?? page!.nodes} /> : <Pending result={result} lines={8} />}
      {page && <Pager pageInfo={page.pageInfo} />}
      {page && !printed && (page.pageInfo.hasNextPage || params.has('after')) && (
        <p className="only-print">
          These are not all movements of the month. “Print statement” on the page prints all.
        </p>
      )}
    </Card>
  );
}

interface Whole {
  /** How many movements have been read; null while none are. */
  count: number | null;
  error: CombinedError | undefined;
  /** All movements, while they are printed. */
  printed: readonly Movement[] | null;
  print: () => Promise<void>;
  download: (title: string) => Promise<void>;
  stop: () => void;
}

/** All movements of a statement, read page by page to be printed or saved. */
function useWhole(range: Range): Whole {
  const client = useClient();
  const time = useTimes();
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<CombinedError>();
  const [printed, setPrinted] = useState<readonly Movement[] | null>(null);
  const stopped = useRef(false);
  const read = async (): Promise<Movement[] | undefined> => {
    stopped.current = false;
    setError(undefined);
    setCount(0);
    const none = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
    const rows: Movement[] = [];
    try {
      for await (const { nodes } of pagesOf(
        client,
        MovementsQuery,
        range,
        ({ viewer }) => viewer.account.balanceStatement?.movements ?? none,
      )) {
        if (stopped.current) return undefined;
        rows.push(...nodes);
        setCount(rows.length);
      }
      return rows;
    } catch (caught) {
      setError(caught as CombinedError);
      return undefined;
    } finally {
      setCount(null);
    }
  };
  useEffect(() => {
    if (!printed) return;
    print();
    setPrinted(null);
  }, [printed]);
  return {
    ...{ count, error, printed },
    print: async () => setPrinted((await read()) ?? null),
    download: async (title) => {
      const rows = await read();
      if (rows)
        save(new Blob([csvLine(head), ...rows.map((row) => lineOf(row, time))], { type: 'text/csv' }), `${title}.csv`);
    },
    stop: () => {
      stopped.current = true;
    },
  };
}

const head = ['booked', 'local time', 'movement', 'note', 'bank reference', 'payment', 'amount', 'balance', 'currency'];

/** A movement as a line of the file. Amounts are as the graph has them. */
function lineOf(movement: Movement, time: ReturnType<typeof useTimes>): string {
  const { created, amount, balanceAfter, payment } = movement;
  const { text, hint, reference } = movementWords(movement);
  const facts = [created, time(created, 'clock'), text, hint ?? '', reference ?? '', payment?.id ?? ''];
  return csvLine([...facts, amount.amount, balanceAfter.amount, amount.currency]);
}

function Actions({ whole: { count, print: onPrint, download, stop }, title }: { whole: Whole; title: string }) {
  if (count !== null) {
    return (
      <>
        <span className="hint" role="status">
          {counted(count, 'movement')} …
        </span>
        <button type="button" className="button" onClick={stop}>
          Stop
        </button>
      </>
    );
  }
  return (
    <>
      <button type="button" className="button" onClick={() => void download(title)}>
        <Download aria-hidden /> Download CSV
      </button>
      <button type="button" className="button" onClick={() => void onPrint()}>
        <Printer aria-hidden /> Print statement
      </button>
    </>
  );
}

interface HeadProps {
  account: AccountOfStatement | undefined;
  month: string;
  timeZone: string;
  currency: string;
}

/** The head of the printed statement: whose money it is, and of which time. */
function Head({ account, month, timeZone, currency }: HeadProps) {
  const { viewer } = useSession();
  const time = useTimes();
  const { legalName, physicalAddress: at, ids } = account?.businessDetails ?? {};
  const facts: [string, string | null | undefined][] = [
    ['Account', legalName ?? nameOf(viewer.account)],
    ['Address', at && placeOf(at)],
    ['GST ID', ids?.taxGst],
    ['Account ID', viewer.account.id],
    ['Month', `${monthName(month)}, ${nameOfZone(timeZone)}`],
    ['Currency', currency],
    ['Printed', time(gatewayNow(), 'full')],
  ];
  return <Letterhead title="Statement of account" facts={facts} />;
}
