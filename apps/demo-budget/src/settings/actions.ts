import type { SettingName } from '../queries/settings.ts';
import type { Writer } from '../writer.ts';

export async function setSetting(writer: Writer, name: SettingName, value: string): Promise<void> {
  await writer.execute(
    'INSERT INTO settings (id, value) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET value = excluded.value',
    [name, value],
  );
}
