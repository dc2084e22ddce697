export type SettingName = 'name' | 'first-day';

export interface SettingRow {
  readonly id: SettingName;
  readonly value: string;
}

/** All settings of the budget. No parameters. */
export const allSettings = `
  SELECT id, value FROM settings`;
