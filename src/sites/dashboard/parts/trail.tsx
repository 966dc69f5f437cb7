import type { ReactNode } from 'react';
import { Card } from './page';

/** One station on the way of money. */
export interface Station {
  /** What it is, such as `Payout`. */
  name: string;
  /** Whether the money has passed it, is there and waits, is still to come, or failed there. */
  state: 'passed' | 'waits' | 'ahead' | 'failed';
  /** Whose or which it is. Nothing while it is ahead. */
  title?: ReactNode;
  /** How much, when, and by which reference. */
  facts?: readonly ReactNode[];
  /** The sentence why money waits here, or why it failed. */
  why?: ReactNode;
}

const said: Record<Station['state'], string> = {
  passed: 'done',
  waits: 'money waits here',
  ahead: 'not yet',
  failed: 'failed',
};

/** The way of money from its payer to a bank account, with the stations where some of it waits, and why. */
export function Trail({ stations }: { stations: readonly Station[] }) {
  return (
    <Card title="Way of the money">
      <ol className="trail">
        {stations.map(({ name, state, title, facts = [], why }) => (
          <li key={name} data-state={state}>
            <h3>
              {name}
              <span className="unseen">: {said[state]}</span>
            </h3>
            {title && <p className="station-title">{title}</p>}
            {facts.filter(Boolean).map((fact, i) => (
              <p key={i} className="hint">
                {fact}
              </p>
            ))}
            {why && <p className="station-why">{why}</p>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
