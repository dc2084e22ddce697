import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { setSetting } from '../settings/actions.ts';
import { useSettings } from '../settings/use-settings.ts';
import { useAction } from '../shell/failure.tsx';

/** Every calendar month has these days. */
const firstDays = Array.from({ length: 28 }, (_, index) => index + 1);

/** The day on which the months of the budget and of all reports begin. */
export function FirstDayChoice(): ReactNode {
  const client = useClient();
  const run = useAction();
  const { firstDay } = useSettings();
  return (
    <label className="inline">
      Months begin on day
      <select
        value={firstDay}
        onChange={(event) => {
          const day = event.target.value;
          run(() => setSetting(client, 'first-day', day), `Months now begin on day ${day}.`);
        }}
      >
        {firstDays.map((day) => (
          <option key={day}>{day}</option>
        ))}
      </select>
    </label>
  );
}
