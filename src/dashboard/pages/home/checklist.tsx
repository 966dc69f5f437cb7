import { Circle } from 'lucide-react';
import { Link } from 'wouter';
import { type Requirement, requirementWords } from '../../format';
import { Card } from '../../parts';

interface ChecklistProps {
  accountId: string;
  requirements: Requirement[];
}

/** What the account still lacks before it can be activated, and the way to give it. */
export function Checklist({ accountId, requirements }: ChecklistProps) {
  return (
    <Card
      title="Before the account can be activated"
      action={
        <Link href={`/accounts/${accountId}`} className="button small primary">
          Complete the details
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
