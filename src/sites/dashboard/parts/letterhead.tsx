import type { ReactNode } from 'react';
import { useSession } from '../session';
import { Facts } from './facts';
import { Mark } from './mark';

interface LetterheadProps {
  title: ReactNode;
  facts: readonly (readonly [string, ReactNode])[];
  /** What stands above the facts. */
  children?: ReactNode;
}

/** The head of a printed statement, which no screen shows. In test mode it says so. */
export function Letterhead({ title, facts, children }: LetterheadProps) {
  const { mode } = useSession().viewer;
  return (
    <div className="only-print">
      <header className="letterhead-head">
        <h2>
          {title}
          {mode === 'TEST' && ' (test mode: no real money)'}
        </h2>
        <span className="brand">
          <Mark /> Tidegate
        </span>
      </header>
      {children}
      <Facts facts={facts} className="letterhead" />
    </div>
  );
}
