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
    words: 'Every entry of every account, a line for each part of a split one. For spreadsheets and other budget apps.',
  },
  {
    format: 'json',
    title: 'Everything as JSON',
    words:
      'Every account, entry, category, assignment, rule and schedule, as it is kept. To be opened here again, or for programs of your own.',
  },
  {
    format: 'sqlite',
    title: 'The database itself',
    words:
      'The SQLite file that this device works with, as a whole. For a backup that can be opened here again, or to look into it with any SQLite tool.',
  },
];

/** Everything that the budget holds, as files. It works without a network: nothing is asked of the server. */
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
      <p className="hint">What you entered is yours. Take all of it with you, at any time, also without a network.</p>
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
