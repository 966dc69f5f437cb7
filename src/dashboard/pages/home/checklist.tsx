import { Circle } from 'lucide-react';
import { Link } from 'wouter';
import { Card } from '../../parts/page';

interface ChecklistProps {
  accountId: string;
  requirements: { fieldName: string; message: string }[];
}

/** What the account still lacks before it can be activated, in the words of the gateway, and the way to give it. */
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
        {requirements.map(({ fieldName, message }) => (
          <li key={fieldName}>
            <Circle aria-hidden />
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
