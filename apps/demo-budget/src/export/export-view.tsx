import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import { RestoreCard } from '../restore/restore-card.tsx';
import { useTask } from '../shell/failure.tsx';
import { today } from '../shell/locale.ts';
import { download } from './download.ts';
import { exportCsv, type ExportProgress } from './export-csv.ts';
import { exportJson } from './export-json.ts';

type Format = 'csv' | 'json' | 'sqlite';

const formats: readonly { readonly format: Format; readonly title: string; readonly words: string }[] = [
  {
    format: 'csv',
    title: 'Entries as CSV',
    words: 'Every entry of every account, one line per part of a split entry. For spreadsheets and other budget apps.',
  },
  {
    format: 'json',
    title: 'Everything as JSON',
    words:
      'All accounts, entries, categories, assignments, rules and schedules. Open it here again, or use it in your own programs.',
  },
  {
    format: 'sqlite',
    title: 'SQLite database',
    words: 'The complete SQLite file of this device. Open it here again as a backup, or in any SQLite tool.',
  },
];

/** Saves the whole budget as files. Works offline: the server is not contacted. */
export function ExportView(): ReactNode {
  const client = useClient();
  const run = useTask();
  const [running, setRunning] = useState<Format | null>(null);
  const [progress, setProgress] = useState<ExportProgress | null>(null);
  const [saved, setSaved] = useState<string | null>(null);

  const save = (format: Format): void => {
    setRunning(format);
    setProgress(null);
    setSaved(null);
    run(async () => {
      try {
        const blob =
          format === 'csv'
            ? await exportCsv(client, setProgress)
            : format === 'json'
              ? await exportJson(client, Date.now(), setProgress)
              : await client.backup();
        const fileName = `budget-${today()}.${format}`;
        download(fileName, blob);
        setSaved(fileName);
      } finally {
        setRunning(null);
      }
    });
  };

  return (
    <>
      <h1>Export</h1>
      <p className="hint">Your data is yours. Export it at any time, even offline.</p>
      <ul className="exports">
        {formats.map(({ format, title, words }) => (
          <li key={format} className="card">
            <h2>{title}</h2>
            <p>{words}</p>
            {running === format ? (
              <label className="progress">
                {progress === null ? 'Reading …' : `${progress.writtenCount} of ${progress.totalCount}`}
                <progress {...(progress === null ? {} : { value: progress.writtenCount, max: progress.totalCount })} />
              </label>
            ) : (
              <button
                type="button"
                disabled={running !== null}
                onClick={() => save(format)}
                aria-label={`Save ${title}`}
              >
                Save
              </button>
            )}
          </li>
        ))}
      </ul>
      <RestoreCard />
      <p role="status" className="hint">
        {saved !== null && `${saved} is in your downloads.`}
      </p>
    </>
  );
}
