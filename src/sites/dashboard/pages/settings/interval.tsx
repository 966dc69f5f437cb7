import { useState } from 'react';
import { type PayoutDays, payoutDays, nextPayout, weekdays } from '../../format/payout-days';
import { formatAge, gatewayNow, useTimes } from '../../format/time';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import { ActionButton } from '../../parts/action';
import { SelectField } from '../../parts/form';

/** The setting of an account, as far as it is about payouts. */
export const PayoutsFragment = graphql(`
  fragment Payouts on AccountSetting {
    id
    payouts { enabled interval weeklyAnchor monthlyAnchor reasonCodeNotEnabled }
  }
`);

export type PayoutsSetting = ResultOf<typeof PayoutsFragment>;

export const UpdateMutation = graphql(
  `
    mutation UpdateAccountSetting($input: UpdateAccountSettingInput!) {
      updateAccountSetting(input: $input) { accountSetting { ...Payouts } }
    }
  `,
  [PayoutsFragment],
);

type Input = VariablesOf<typeof UpdateMutation>['input'];

const intervals = [
  { value: 'DAILY', name: 'Every day' },
  { value: 'WEEKLY', name: 'Every week' },
  { value: 'MONTHLY', name: 'Every month' },
];

/** Numbers from 1 on with their names. */
const numbered = (names: readonly string[]) => names.map((name, i) => ({ value: String(i + 1), name }));
const daysOfMonth = numbered(Array.from({ length: 31 }, (_, i) => String(i + 1)));

interface ChangeIntervalProps {
  setting: PayoutsSetting;
  /** Whose payouts these are, where it is not the viewer's own account. */
  name?: string;
  small?: boolean;
  /** Whether money is paid out as soon as it is there, so that the interval counts for the rest alone. */
  atOnce: boolean;
}

/** The values of the form: a number is a text in it. */
interface Values {
  payouts: { interval: PayoutDays['interval']; weeklyAnchor?: string; monthlyAnchor?: string };
}

/** The input of the mutation. A day that belongs to another interval is not in the form. */
const inputOf = (id: string, { payouts: { interval, weeklyAnchor, monthlyAnchor } }: Values): Input => ({
  id,
  payouts: {
    interval,
    ...(weeklyAnchor && { weeklyAnchor: Number(weeklyAnchor) }),
    ...(monthlyAnchor && { monthlyAnchor: Number(monthlyAnchor) }),
  },
});

/** Changes on which days an account is paid out. A stolen session could delay payouts, so it takes a key. */
export function ChangeInterval({ setting: { id, payouts }, name, small = false, atOnce }: ChangeIntervalProps) {
  return (
    <ActionButton
      name="Change"
      about={name ? `the days of payouts of ${name}` : 'the days of your payouts'}
      title={name ? `Payouts of ${name}` : 'Your payouts'}
      small={small}
      submit="Save"
      withKey
      mutation={UpdateMutation}
      read={(values: Values) => inputOf(id, values)}
    >
      <Days chosen={payouts} atOnce={atOnce} />
    </ActionButton>
  );
}

/** The fields of the days, and what they mean. */
function Days({ chosen, atOnce }: { chosen: PayoutDays; atOnce: boolean }) {
  const [days, setDays] = useState<PayoutDays>(chosen);
  const choose = (change: Partial<PayoutDays>) => setDays({ ...days, ...change });
  return (
    <>
      <SelectField
        name="payouts.interval"
        label="Paid out"
        options={intervals}
        defaultValue={days.interval}
        onChange={(interval) => choose({ interval: interval as PayoutDays['interval'] })}
      />
      {days.interval === 'WEEKLY' && (
        <SelectField
          name="payouts.weeklyAnchor"
          label="Day of the week"
          options={numbered(weekdays)}
          defaultValue={String(days.weeklyAnchor ?? 1)}
          onChange={(day) => choose({ weeklyAnchor: Number(day) })}
        />
      )}
      {days.interval === 'MONTHLY' && (
        <SelectField
          name="payouts.monthlyAnchor"
          label="Day of the month"
          options={daysOfMonth}
          defaultValue={String(days.monthlyAnchor ?? 1)}
          onChange={(day) => choose({ monthlyAnchor: Number(day) })}
        />
      )}
      <Meaning days={days} atOnce={atOnce} />
    </>
  );
}

/** What the chosen days mean, and when the next payout then is. */
function Meaning({ days, atOnce }: { days: PayoutDays; atOnce: boolean }) {
  const time = useTimes();
  const at = nextPayout(days, gatewayNow());
  return (
    <p className="note" role="status">
      What is available is paid out {payoutDays(days)}, at midnight UTC.{' '}
      {atOnce ? (
        'The days count for what could not be paid out at once.'
      ) : (
        <>
          The next payout is then on <strong>{time(at, 'clock')}</strong> ({formatAge(at)}).
        </>
      )}
    </p>
  );
}
