import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import { RestoreCard } from '../restore/restore-card.tsx';
import { useTask } from '../shell/failure.tsx';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { locale, today } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
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
  const [accountId, setAccountId] = useState<string | null>(null);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);

  const save = (format: Format): void => {
    setRunning(format);
    setProgress(null);
    setSaved(null);
    run(async () => {
      try {
        const blob =
          format === 'csv'
            ? await exportCsv(client, setProgress, accountId)
            : format === 'json'
              ? await exportJson(client, Date.now(), setProgress)
              : await client.backup();
        const account = format === 'csv' ? accounts.find(({ id }) => id === accountId) : undefined;
        const fileName = `${account === undefined ? 'budget' : fileNameOf(account.name)}-${today()}.${format}`;
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
            {format === 'csv' && accounts.length > 1 && (
              <label>
                Account
                <select
                  value={accountId ?? ''}
                  onChange={({ target: { value } }) => setAccountId(value === '' ? null : value)}
                >
                  <option value="">All accounts</option>
                  {accounts.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {running === format ? (
              <label className="progress">
                {progress === null
                  ? 'Reading …'
                  : `${progress.writtenCount.toLocaleString(locale)} of ${progress.totalCount.toLocaleString(locale)}`}
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

/** An account's name without the characters that file systems reserve. */
function fileNameOf(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'account';
}
