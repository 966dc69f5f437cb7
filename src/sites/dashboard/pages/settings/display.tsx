import { deviceZone, prefer, type Preferences, usePreferences } from '../../format/preferences';
import { nameOfZone } from '../../format/zones';
import { Field } from '../../parts/field';
import { Card, Page } from '../../parts/page';

/** The preferences of the viewer. */
export function Display() {
  const { theme, timeZone } = usePreferences();
  return (
    <Page title="Settings">
      <Card title="Display">
        <Field label="Theme">
          {(input) => (
            <select
              {...input}
              value={theme}
              onChange={(event) => prefer({ theme: event.target.value as Preferences['theme'] })}
            >
              <option value="system">As the system</option>
              <option value="light">Light</option>
              <option value="dark">Dark</option>
            </select>
          )}
        </Field>
        <Field label="Time zone" hint="Times are shown in this zone, and days begin in it, also in figures by day.">
          {(input) => (
            <select {...input} value={timeZone} onChange={(event) => prefer({ timeZone: event.target.value })}>
              <option value="">{`As this device (${nameOfZone(deviceZone())})`}</option>
              <option value="UTC">UTC</option>
              {Intl.supportedValuesOf('timeZone').map((zone) => (
                <option key={zone} value={zone}>
                  {nameOfZone(zone)}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Card>
    </Page>
  );
}
