import type { ReactNode } from 'react';
import { hundredths } from '../format/money';
import { Money } from './money';

/** A part of an amount. */
interface Share {
  key: string;
  name: string;
  amount: string;
  /** The class of its colour; its key by default. */
  colour?: string;
  /** What it means, for those who point at it. */
  hint?: string;
  /** The list of what it is made of. */
  link?: (name: string) => ReactNode;
  /** What stands below the amount. */
  below?: ReactNode;
}

/** Amounts of one currency that are parts of a whole: as a bar, and each with its name. */
export function Shares({ shares, currency }: { shares: readonly Share[]; currency: string }) {
  const positive = (amount: string) => (hundredths(amount) > 0n ? hundredths(amount) : 0n);
  const all = shares.reduce((total, { amount }) => total + positive(amount), 0n) || 1n;
  return (
    <>
      <div className="balance-bar" aria-hidden="true">
        {shares.map(({ key, amount, colour = key }) => (
          <span key={key} className={colour} style={{ flexGrow: Number((positive(amount) * 1000n) / all) }} />
        ))}
      </div>
      <dl className="balance-parts">
        {shares.map(({ key, name, amount, colour = key, hint, link, below }) => (
          <div key={key} title={hint}>
            <dt>
              <span className={`dot ${colour}`} aria-hidden="true" /> {link ? link(name) : name}
            </dt>
            <dd>
              <Money amount={amount} currency={currency} />
              {below}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
