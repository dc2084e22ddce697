import type { DocumentHistory, DocumentHistoryPage, DocumentVersion } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import '../../history/history.css';
import { useWhoIs } from '../../people/who.ts';
import { errorSentence } from '../../shell/error-sentence.ts';
import { useAction, useReport, useTask } from '../../shell/failure.tsx';
import { keyOf } from '../../shell/keys.ts';
import { formatMoment, locale } from '../../shell/locale.ts';
import type { NoteContent } from '../actions.ts';
import { noteLines, type NoteLine } from './note-lines.ts';
import { NoteText } from './note-text.tsx';
import { VersionNameForm } from './version-name-form.tsx';
import './note-history.css';

export interface NoteHistoryProps {
  readonly noteId: string;
  /** The name of the note. */
  readonly label: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

interface Shown {
  readonly version: number;
  readonly lines: readonly NoteLine[];
}

/** The form for a name. */
interface Naming {
  /** The version as listed when the form was opened. The name does not apply to later edits. */
  readonly version: DocumentVersion;
  /** The name to change. Null if the version has none. */
  readonly name: string | null;
  /** The position of the name among the names of the version. */
  readonly at: number;
}

/** The versions of a note: what one person wrote without a long pause. Each can be read, named and restored. */
export default function NoteHistory({ noteId, label, mayWrite, onClose }: NoteHistoryProps): ReactNode {
  const client = useClient();
  const run = useTask();
  const write = useAction();
  const report = useReport();
  const whoIs = useWhoIs();
  const history = useRef<DocumentHistory<NoteContent> | null>(null);
  const [page, setPage] = useState<DocumentHistoryPage | null>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const [naming, setNaming] = useState<Naming | null>(null);
  // Kept here, because the form moves when the list grows while the user types.
  const typedName = useRef('');
  const [isRestored, setRestored] = useState(false);

  useEffect(() => {
    let isShown = true;
    let stop = (): void => undefined;
    const open = async (): Promise<void> => {
      const row = await client.history('notes', noteId);
      const opened = row.document<NoteContent>('content');
      history.current = opened;
      if (!isShown) return;
      // The row has a new state whenever the note gets a new version.
      stop = row.subscribe(({ loading }) => {
        if (loading) return;
        opened.page().then(
          (newest) => isShown && setPage(newest),
          (error: unknown) => isShown && report(error),
        );
      });
    };
    open().catch((error: unknown) => isShown && report(error));
    return () => {
      isShown = false;
      stop();
    };
  }, [client, noteId, report]);

  const more = (): void =>
    run(async () => {
      if (history.current === null || page === null || page.next === null) return;
      const older = await history.current.page({ before: page.next });
      setPage({ ...older, versions: [...page.versions, ...older.versions] });
    });
  const show = (version: number, older: DocumentVersion | undefined): void =>
    run(async () => {
      if (history.current === null) return;
      // The oldest known version is not compared with anything, unless older ones are no longer kept.
      const next = page?.next ?? null;
      const before = older?.version ?? (next === null ? null : await versionBefore(history.current, next));
      const [newer, known] = await Promise.all([
        history.current.at(version),
        before === null ? null : history.current.at(before),
      ]);
      const isOldestKept = before === null && page?.isTruncated === true;
      setShown({ version, lines: noteLines(newer?.body ?? [], isOldestKept ? undefined : (known?.body ?? [])) });
    });
  const restore = (version: number): void =>
    write(async () => {
      await history.current?.restore(version);
      setRestored(true);
      setShown(null);
    });

  const openForm = (form: Naming): void => {
    typedName.current = form.name ?? '';
    setNaming(form);
  };
  // Closing the form removes the focused element.
  const leaveForm = ({ version, at }: Naming): void => {
    flushSync(() => setNaming(null));
    document.getElementById(nameButtonId(version, at))?.focus();
  };
  const formAt = naming === null ? -1 : placeOf(naming.version, page?.versions ?? []);

  const problem = page?.error ?? null;

  return (
    <section
      className="card history note-history"
      aria-label={`History of ${label}`}
      onKeyDown={(event) => {
        if (keyOf(event) !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="history-head">
        <h2>History of {label}</h2>
        <button type="button" onClick={onClose} autoFocus>
          Close
        </button>
      </header>
      <p className="hint" role="status">
        {isRestored && 'Restored. The previous text is still in this list.'}
        {problem !== null && ` ${errorSentence(problem)} Only recent changes of this device are shown.`}
      </p>
      {page === null && <p className="hint">Loading the history …</p>}
      <ol className="moments">
        {page?.versions.map((one, index) => {
          const { version, author, fromMs, untilMs, count, names } = one;
          return (
            <li key={versionId(one)} className="moment">
              <p className="moment-head">
                {names.map((name) => (
                  <strong key={name} className="version-name">
                    {name}
                  </strong>
                ))}
                {names.length === 0 ? (
                  <strong>{sentenceStart(whoIs(author))}</strong>
                ) : (
                  <span>{sentenceStart(whoIs(author))}</span>
                )}
                <time dateTime={new Date(untilMs).toISOString()}>{spanWords(fromMs, untilMs)}</time>
                <span className="hint">
                  {version === null
                    ? 'Not synced yet'
                    : count === 1
                      ? '1 change'
                      : `${count.toLocaleString(locale)} changes`}
                </span>
              </p>
              {version !== null && shown?.version === version && (
                <NoteText lines={shown.lines} label={`${label} on ${formatMoment(untilMs)}`} />
              )}
              {naming !== null && index === formAt && history.current !== null ? (
                <VersionNameForm
                  history={history.current}
                  version={naming.version}
                  name={naming.name}
                  typed={typedName}
                  onDone={() => leaveForm(naming)}
                />
              ) : (
                <div className="buttons">
                  {version !== null && (
                    <button
                      type="button"
                      className="quiet"
                      aria-expanded={shown?.version === version}
                      onClick={() =>
                        shown?.version === version ? setShown(null) : show(version, page.versions[index + 1])
                      }
                    >
                      {shown?.version === version ? 'Hide' : 'Show'}
                    </button>
                  )}
                  {mayWrite && version !== null && index > 0 && (
                    <button type="button" className="quiet" onClick={() => restore(version)}>
                      Restore
                    </button>
                  )}
                  {mayWrite &&
                    (names.length === 0 ? [null] : names).map((name, at) => (
                      <button
                        // The position, so that the button keeps the focus when its name changes.
                        key={at}
                        type="button"
                        id={nameButtonId(one, at)}
                        className="quiet"
                        aria-label={name === null ? undefined : `Rename “${name}” …`}
                        onClick={() => openForm({ version: one, name, at })}
                      >
                        {name === null ? 'Name …' : names.length === 1 ? 'Rename …' : `Rename “${name}” …`}
                      </button>
                    ))}
                </div>
              )}
            </li>
          );
        })}
      </ol>
      {page !== null && page.next !== null && (
        <button type="button" className="more" onClick={more}>
          Show older versions
        </button>
      )}
      {page?.isTruncated === true && <p className="hint">Versions before these are no longer kept.</p>}
    </section>
  );
}

function versionId({ siteId, sequence }: DocumentVersion): string {
  return `${siteId}-${sequence}`;
}

function nameButtonId(version: DocumentVersion, at: number): string {
  return `name-${versionId(version)}-${at}`;
}

/** The position of a version in the list, or of the version that its edits belong to now. */
function placeOf(version: DocumentVersion, versions: readonly DocumentVersion[]): number {
  const same = versions.findIndex((one) => versionId(one) === versionId(version));
  if (same >= 0) return same;
  return Math.max(
    0,
    versions.findIndex(({ fromMs, untilMs }) => fromMs <= version.untilMs && version.untilMs <= untilMs),
  );
}

async function versionBefore(history: DocumentHistory<NoteContent>, before: number): Promise<number | null> {
  const { versions } = await history.page({ before, limit: 1 });
  return versions[0]?.version ?? null;
}

function spanWords(fromMs: number, untilMs: number): string {
  const [from, until] = [formatMoment(fromMs), formatMoment(untilMs)];
  return from === until ? until : `${from} to ${until}`;
}

function sentenceStart(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
