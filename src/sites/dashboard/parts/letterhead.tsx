import type { ReactNode } from 'react';
import { Facts } from './facts';
import { Mark } from './mark';

interface LetterheadProps {
  title: ReactNode;
  facts: readonly (readonly [string, ReactNode])[];
  /** What stands above the facts. */
  children?: ReactNode;
}

/** The head of a printed statement, which no screen shows. */
export function Letterhead({ title, facts, children }: LetterheadProps) {
  return (
    <div className="only-print">
      <header className="letterhead-head">
        <h2>{title}</h2>
        <span className="brand">
          <Mark /> Tidegate
        </span>
      </header>
      {children}
      <Facts facts={facts} className="letterhead" />
    </div>
  );
}
