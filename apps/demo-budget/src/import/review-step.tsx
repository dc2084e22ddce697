import { useClient } from '@rockpool/client/react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { countedWriter } from '../counted-writer.ts';
import type { AccountRow } from '../queries/accounts.ts';
import {
  entriesOfDays,
  importKeysOfAccount,
  importProfileOfAccount,
  type ImportKeyRow,
  type ImportProfileRow,
  type KnownEntryRow,
} from '../queries/import.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { useAction, useSave, useTask } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { importEntries, removedCount, takeImportBack, type Imported, type ImportProgress } from './actions.ts';
import { decodeAs, divideBy, guessFormats, type ChosenFile, type FormatChoice } from './chosen-file.ts';
import type { Encoding } from './file/encoding.ts';
import { fileProblemSentence, type Delimiter } from './file/problem.ts';
import { FormatForm } from './format-form.tsx';
import { ImportSummary } from './import-summary.tsx';
import { PreviewTable } from './preview-table.tsx';
import { forgetProfile, saveProfile } from './profile/actions.ts';
import { StatementForm } from './statement-form.tsx';
import { formatsOfProfile, profileOf, readProfile } from './profile/profile.ts';
import { unknownCategoryNames } from './category-names.ts';
import { isComplete } from './rows/columns.ts';
import { correctTable, type Corrections } from './rows/corrections.ts';
import { daysAround } from './rows/days-of-table.ts';
import { planImport } from './rows/plan.ts';
import { previewImport, type KnownEntries } from './rows/preview.ts';
import { useRuledWords } from './use-ruled-words.ts';

export interface ReviewStepProps {
  readonly budget: Budget;
  readonly account: AccountRow;
  readonly file: ChosenFile;
  readonly onFile: (file: ChosenFile | null) => void;
}

interface Done {
  readonly imported: Imported;
  readonly duplicateCount: number;
  readonly skippedCount: number;
}

/** Shows how a file was read and what would be written, takes corrections, and imports. */
export function ReviewStep({ budget, account, file, onFile }: ReviewStepProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const runTask = useTask();
  const { formats, fromProfile, setFormats, loading } = useFormats(account.id, file);
  const ruledWords = useRuledWords(account);
  const [corrections, setCorrections] = useState<Corrections>(new Map());
  const [skipped, setSkipped] = useState<ReadonlySet<number>>(new Set());
  const [kept, setKept] = useState<ReadonlySet<number>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [addsCategories, setAddsCategories] = useState(true);
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const table = useMemo(() => correctTable(file.table, corrections), [corrections, file.table]);
  const known = useKnownEntries(
    account.id,
    useMemo(() => daysAround(table, formats.columns.date, formats.dateOrder), [formats, table]),
  );
  // From the start of the import, there is no preview: it would show the written rows as duplicates of themselves.
  const frozen = progress !== null || done !== null;
  const preview = useMemo(
    () =>
      frozen || !isComplete(formats.columns)
        ? null
        : previewImport(table, { accountId: account.id, currency: account.currency, ...formats }, known.entries),
    [account.currency, account.id, formats, frozen, known.entries, table],
  );
  const plan = useMemo(() => (preview === null ? null : planImport(preview, skipped, kept)), [kept, preview, skipped]);

  const newNames = useMemo(
    () => (plan?.ok === true ? unknownCategoryNames(plan.value.entries, categories) : []),
    [categories, plan],
  );

  const changeFile = (changed: ChosenFile): void => {
    onFile(changed);
    setFormats(null);
    setCorrections(new Map());
    setSkipped(new Set());
    setKept(new Set());
  };
  const divide = (delimiter: Delimiter): void => {
    const divided = divideBy(file, delimiter);
    setProblem(divided.ok ? null : fileProblemSentence(divided.problem));
    if (divided.ok) changeFile(divided.value);
  };
  const decode = (encoding: Encoding): void =>
    runTask(async () => {
      const decoded = await decodeAs(file, encoding);
      setProblem(decoded.ok ? null : fileProblemSentence(decoded.problem));
      if (decoded.ok) changeFile(decoded.value);
    });
  const start = (): void => {
    if (plan === null || !plan.ok) return;
    const { entries, duplicateCount, skippedCount, alikeCount } = plan.value;
    setProgress({ writtenCount: 0, totalCount: entries.length });
    run(
      async () => {
        const { writer, count } = countedWriter(client);
        try {
          const imported = await importEntries(writer, account.id, entries, setProgress, addsCategories);
          const profile = profileOf(file.table, formats);
          if (profile !== undefined) await saveProfile(writer, account.id, profile);
          setDone({
            imported,
            duplicateCount: duplicateCount + entries.length - imported.addedIds.length,
            skippedCount: skippedCount + alikeCount,
          });
          return { imported, transactionCount: count() };
        } finally {
          setProgress(null);
        }
      },
      '',
      {
        count: ({ transactionCount }) => transactionCount,
        revert: async ({ imported }) => {
          const isRemoved = (await removedCount(client, imported)) === imported.addedIds.length;
          return isRemoved ? 0 : await takeImportBack(client, imported);
        },
        finish: async ({ imported }) => {
          // The user may have chosen another file.
          if (isShown.current) onFile(null);
          return takenBackWords(await removedCount(client, imported));
        },
      },
    );
  };

  if (done !== null) return <ImportDone budget={budget} account={account} done={done} onAgain={() => onFile(null)} />;
  if (progress !== null) {
    return (
      <section className="card">
        <label className="progress">
          {progress.writtenCount.toLocaleString(locale)} of {progress.totalCount.toLocaleString(locale)} entries saved
          <progress value={progress.writtenCount} max={progress.totalCount} />
        </label>
      </section>
    );
  }
  if (loading) return null;
  return (
    <>
      {file.format !== 'csv' ? (
        <StatementForm file={file} formats={formats} onEncoding={decode} onFile={changeFile} onFormats={setFormats} />
      ) : (
        <FormatForm file={file} formats={formats} onEncoding={decode} onDelimiter={divide} onFormats={setFormats} />
      )}
      {fromProfile && (
        <p className="offer">
          <span>Using the settings of the last statement of {account.name}.</span>
          <button type="button" className="quiet" onClick={() => run(() => forgetProfile(client, account.id))}>
            Reset
          </button>
        </p>
      )}
      {newNames.length > 0 && account.kind !== 'off-budget' && (
        <label className="check">
          <input
            type="checkbox"
            checked={addsCategories}
            onChange={(event) => setAddsCategories(event.target.checked)}
          />
          {newNames.length === 1
            ? `Add the new category “${newNames[0] ?? ''}”`
            : `Add ${newNames.length} new categories: ${newNames.slice(0, 5).join(', ')}${newNames.length > 5 ? ' …' : ''}`}
        </label>
      )}
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <ImportSummary
        complete={isComplete(formats.columns)}
        open={formats.dateOrderOpen || formats.decimalMarkOpen || known.loading}
        plan={plan}
        onSkipTroubled={(rowNumbers) => setSkipped(new Set([...skipped, ...rowNumbers]))}
        onImport={start}
        onCancel={() => onFile(null)}
      />
      {preview !== null && (
        <PreviewTable
          rows={preview}
          currency={account.currency}
          columns={Object.values(formats.columns).flatMap((column) =>
            column === null ? [] : [{ column, name: file.table.header[column] ?? '' }],
          )}
          ruledWords={ruledWords}
          skipped={skipped}
          kept={kept}
          onSkip={(rowNumber) => setSkipped(toggled(skipped, rowNumber))}
          onKeep={(rowNumber) => setKept(toggled(kept, rowNumber))}
          onCorrect={(rowNumber, cells) => setCorrections(new Map([...corrections, [rowNumber, cells]]))}
        />
      )}
    </>
  );
}

function toggled(rowNumbers: ReadonlySet<number>, rowNumber: number): ReadonlySet<number> {
  const others = [...rowNumbers].filter((other) => other !== rowNumber);
  return new Set(others.length === rowNumbers.size ? [...others, rowNumber] : others);
}

interface Formats {
  readonly formats: FormatChoice;
  /** The settings come from the account's last statement, unchanged. */
  readonly fromProfile: boolean;
  /** NULL: use the profile or the detected value. */
  readonly setFormats: (formats: FormatChoice | null) => void;
  readonly loading: boolean;
}

function useFormats(accountId: string, file: ChosenFile): Formats {
  const { rows, loading } = useQuery<ImportProfileRow>(importProfileOfAccount, [accountId]);
  const [chosen, setFormats] = useState<FormatChoice | null>(null);
  const guessed = useMemo(() => guessFormats(file), [file]);
  const stored = useMemo(() => {
    const profile = rows[0] === undefined ? undefined : readProfile(rows[0]);
    return profile === undefined ? undefined : formatsOfProfile(profile, file.table);
  }, [file.table, rows]);
  return {
    formats: chosen ?? stored ?? guessed,
    fromProfile: chosen === null && stored !== undefined,
    setFormats,
    loading,
  };
}

function useKnownEntries(
  accountId: string,
  days: { readonly first: string; readonly last: string },
): { readonly entries: KnownEntries; readonly loading: boolean } {
  const keys = useQuery<ImportKeyRow>(importKeysOfAccount, [accountId]);
  const around = useSteadyQuery<KnownEntryRow>(entriesOfDays, [accountId, days.first, days.last]);
  const entries = useMemo(
    () => ({ importKeys: new Set(keys.rows.map((row) => row.importKey)), entries: around.rows }),
    [around.rows, keys.rows],
  );
  return { entries, loading: keys.loading || around.loading };
}

function takenBackWords(gone: number): string {
  return gone === 1
    ? 'Import undone: 1 entry removed.'
    : `Import undone: ${gone.toLocaleString(locale)} entries removed.`;
}

interface ImportDoneProps {
  readonly budget: Budget;
  readonly account: AccountRow;
  readonly done: Done;
  readonly onAgain: () => void;
}

function ImportDone({ budget, account, done, onAgain }: ImportDoneProps): ReactNode {
  const client = useClient();
  const save = useSave();
  const count = done.imported.addedIds.length;
  const takeBack = (): void => save(() => takeImportBack(client, done.imported), takenBackWords, onAgain);
  return (
    <section className="card form" role="status">
      <h2>{count === 1 ? '1 entry imported' : `${count.toLocaleString(locale)} entries imported`}</h2>
      <p>
        {done.duplicateCount === 0
          ? 'No duplicates were found.'
          : done.duplicateCount === 1
            ? '1 duplicate was skipped.'
            : `${done.duplicateCount.toLocaleString(locale)} duplicates were skipped.`}
        {done.skippedCount > 0 && ` ${done.skippedCount} skipped.`}
      </p>
      <div className="buttons">
        <a className="button primary" href={hashOf(budget, { page: 'entries', accountId: account.id })}>
          Go to {account.name}
        </a>
        <button type="button" onClick={onAgain}>
          Import another file
        </button>
        {count > 0 && (
          <button type="button" className="danger" onClick={takeBack}>
            Undo import
          </button>
        )}
      </div>
    </section>
  );
}
