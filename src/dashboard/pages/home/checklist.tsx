import { Circle } from 'lucide-react';
import { Card } from '../../parts/page';

/** What the account still lacks before it can be activated, in the words of the gateway. */
export function Checklist({ requirements }: { requirements: { fieldName: string; message: string }[] }) {
  return (
    <Card title="Before the account can be activated">
      <ul className="checklist">
        {requirements.map(({ fieldName, message }) => (
          <li key={fieldName}>
            <Circle aria-hidden />
            <span>
              <code>{fieldName}</code>
              <span className="hint">{message}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
