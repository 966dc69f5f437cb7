import { Circle } from 'lucide-react';
import { Link } from 'wouter';
import { type Requirement, requirementWords } from '../../format/requirements';
import { Card } from '../../parts/page';
import { useMayWrite } from '../../session';

interface ChecklistProps {
  accountId: string;
  requirements: Requirement[];
}

/** What the account still lacks before it can be activated, and the way to give it. */
export function Checklist({ accountId, requirements }: ChecklistProps) {
  const mayWrite = useMayWrite();
  return (
    <Card
      title="Before the account can be activated"
      action={
        <Link href={`/accounts/${accountId}`} className={`button small${mayWrite ? ' primary' : ''}`}>
          {mayWrite ? 'Complete the details' : 'See the details'}
        </Link>
      }
    >
      <ul className="checklist">
        {requirements.map((requirement) => (
          <li key={requirement.fieldName}>
            <Circle aria-hidden />
            <span>{requirementWords(requirement)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
