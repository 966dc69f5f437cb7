import { Clock as ClockIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { startOfDay } from './format/days';
import { useTimeZone } from './format/preferences';
import { gatewayNow, useTimes } from './format/time';
import { graphql } from './graph/graphql';
import { useWrite } from './graph/write';
import { DialogButton } from './parts/dialog';
import { Form, TextField } from './parts/form';
import { useMayTest } from './parts/test-tools';
import { useSession } from './session';

const AdvanceMutation = graphql(`
  mutation AdvanceTestClock($seconds: Int!) {
    advanceTestClock(input: {advanceSeconds: $seconds}) { clock { now } }
  }
`);

const steps = [
  ['An hour', 3_600],
  ['A day', 86_400],
  ['A week', 7 * 86_400],
  ['30 days', 30 * 86_400],
] as const;

/** The time of the test clock, which those who may write can move. */
export function TestClock() {
  const { viewer } = useSession();
  const time = useTimes();
  const mayTest = useMayTest();
  const [now, setNow] = useState(gatewayNow);
  useEffect(() => {
    setNow(gatewayNow());
    const timer = setInterval(() => setNow(gatewayNow()), 10_000);
    return () => clearInterval(timer);
  }, [viewer.now]);
  return (
    <span className="test-clock">
      <ClockIcon aria-hidden />
      <time dateTime={now}>{time(now, 'clock')}</time>
      {mayTest && (
        <DialogButton title="Move the test clock" label="Move the clock" className="link">
          {(close) => <MoveClock onClose={close} />}
        </DialogButton>
      )}
    </span>
  );
}

function MoveClock({ onClose }: { onClose: () => void }) {
  const { refresh } = useSession();
  const timeZone = useTimeZone();
  const { write, pending, failure } = useWrite(AdvanceMutation);
  const move = async (seconds: number) => {
    if (!(await write({ seconds }))) return;
    refresh();
    onClose();
  };
  const moveTo = ({ day }: { day?: string }) => {
    if (day) return move(Math.ceil((Date.parse(startOfDay(day, timeZone)) - Date.parse(gatewayNow())) / 1_000));
    return undefined;
  };
  return (
    <>
      <p className="hint">
        The sandbox then does all that has become due: payouts, reviews, expiries. It is the clock of all your test
        accounts, and does not go back.
      </p>
      <p className="clock-steps">
        {steps.map(([name, seconds]) => (
          <button key={name} type="button" className="button" disabled={pending} onClick={() => void move(seconds)}>
            {name}
          </button>
        ))}
      </p>
      <Form
        label="Move to a day"
        submit="Move to this day"
        pending={pending}
        // A day in the past is refused as a number of seconds, which this form does not have.
        failure={
          failure && { ...failure, fields: {}, messages: [...failure.messages, ...Object.values(failure.fields)] }
        }
        onSubmit={moveTo}
      >
        <TextField name="day" label="Day" type="date" hint="Its beginning; at most 400 days from now." />
      </Form>
    </>
  );
}
