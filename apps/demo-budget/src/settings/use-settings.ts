import { useLiveQuery } from '@rockpool/client/react';
import { useMemo } from 'react';
import { allSettings, type SettingRow } from '../queries/settings.ts';

export interface Settings {
  /** Empty if the budget has no name. */
  readonly name: string;
  /** The day on which a budget month begins, 1 to 28. */
  readonly firstDay: number;
}

/** The settings of the budget, kept current. */
export function useSettings(): Settings {
  const { rows } = useLiveQuery<SettingRow>(allSettings);
  return useMemo(() => settingsOf(rows), [rows]);
}

/** Values that a later version may have written count as unset. */
export function settingsOf(rows: readonly SettingRow[]): Settings {
  const values = new Map(rows.map(({ id, value }) => [id, value]));
  const firstDay = Number(values.get('first-day') ?? 1);
  return {
    name: values.get('name') ?? '',
    firstDay: Number.isInteger(firstDay) && firstDay >= 1 && firstDay <= 28 ? firstDay : 1,
  };
}
