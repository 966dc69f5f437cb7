import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { ActionButton } from '../../parts/action';
import { Card, Page } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Status } from '../../parts/status';

const MatchingQuery = graphql(`
  query Matching {
    viewer { account { id setting { id autoReconcile } } }
  }
`);

const AutoReconcileMutation = graphql(`
  mutation SetAutoReconcile($input: UpdateAccountSettingInput!) {
    updateAccountSetting(input: $input) { accountSetting { id autoReconcile } }
  }
`);

/** Whether payments are matched with their invoices by themselves. */
export function Matching() {
  const result = useLive(MatchingQuery, {});
  return (
    <Page title="Matching">
      <Answered answer={result}>
        <Part value={result.data?.viewer.account} field="viewer.account" title="Automatic matching">
          {({ setting: { id, autoReconcile: on } }) => (
            <Card title="Automatic matching" action={<Switch id={id} on={on} />}>
              <p className="lead">
                {on ? 'Payments with an exact reference are matched by themselves.' : 'You match each payment.'}{' '}
                <Status value={on ? 'ENABLED' : 'DISABLED'} />
              </p>
              <p className="hint">
                When it is enabled, a payment counts towards an invoice as soon as it arrives, if its text has the
                number of the invoice, its amount is what is open, and no other invoice fits. All others wait in{' '}
                <em>To reconcile</em>. The timeline of a payment says that it was matched automatically.
              </p>
            </Card>
          )}
        </Part>
      </Answered>
    </Page>
  );
}

/** Switches it on or off. No session may change settings, so it takes a key. */
function Switch({ id, on }: { id: string; on: boolean }) {
  const verb = on ? 'Disable' : 'Enable';
  return (
    <ActionButton
      name={verb}
      about="automatic matching"
      title={`${verb} automatic matching?`}
      submit={verb}
      withKey
      mutation={AutoReconcileMutation}
      read={() => ({ id, autoReconcile: !on })}
    >
      <p className="hint">
        {on
          ? 'New payments wait in “To reconcile” again. What was matched stays matched.'
          : 'Payments that wait now are matched too, if one invoice alone fits exactly. Their money is available ' +
            'then, and goes out with the next payout. A match cannot be undone.'}
      </p>
    </ActionButton>
  );
}
