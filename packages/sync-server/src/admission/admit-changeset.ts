import {
  correctStampUs,
  EXISTENCE_COLUMN_ID,
  RockpoolError,
  type ChangesetOrigin,
  type ErrorCode,
  type WriteVersion,
} from '@rockpool/shared';
import { writeConflictRows } from '../conflict-log/conflict-rows.ts';
import { withdrawCascadeConflicts, withdrawNullConflicts } from '../conflict-log/delete-conflict.ts';
import { readDocumentTexts, recordHistory } from '../history/record-history.ts';
import type { KnownEarlierSite } from '../log/earlier-sites.ts';
import { hasTakenEffect, saveOrigin, wasRecreated } from '../log/origins.ts';
import { saveOutcome, type StoredOutcome } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import { requireValid } from './validate.ts';
import { requireWhole } from '../merge/atomic.ts';
import { cascadeDeletes } from '../merge/cascade.ts';
import { checkForeignKeys } from '../merge/foreign-keys.ts';
import { correctedRows, mergeChangeset } from '../merge/merge-changeset.ts';
import { MergedRows } from '../merge/merged-rows.ts';
import { restoreParents } from '../merge/restore-parents.ts';
import { returnChildren } from '../merge/return-children.ts';
import { nullReferences } from '../merge/null-references.ts';
import { writeDocuments } from '../merge/write-documents.ts';
import { writeRows } from '../merge/write-rows.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { writeKnownRow } from '../store/row-store.ts';
import { changesetName, type AdmissionRules } from './admission-rules.ts';
import type { HashedChangeset } from './chain.ts';
import { readChangeset } from './read-changeset.ts';

/** The sender of a push, and when it arrived. */
export interface Sender {
  readonly principal: string;
  readonly receivedMs: number;
  /** Whether the principal has not proved yet that it owns the site. */
  readonly isForeign: boolean;
  /** Whether the session began before any principal had written as the site. Default: false. */
  readonly beganUnwritten?: boolean;
  /** Whether the principal has lost the right to write since the push arrived. Default: never. */
  readonly isRevoked?: () => boolean;
}

export interface ChangesetToDecide extends HashedChangeset {
  /** The watermark of this log up to which the author had seen all rows. */
  readonly base: number;
  /** The earlier sites of the author's file whose changesets its author saw when it wrote this one. */
  readonly earlierSites: readonly KnownEarlierSite[];
  /** Whether the author's watermarks belong to an older log epoch (older-epoch.ts). */
  readonly isOfOlderEpoch: boolean;
  /** Whether more changesets of the same push follow. */
  readonly isFollowed: boolean;
}

/**
 * Decides one changeset inside the transaction of its push. Admits all of it under the next watermark, or rejects all
 * of it with a reason and without a trace in the tables. A changeset that has already taken effect, because a copy of
 * the author re-created it, is admitted without changing a row. Stores the outcome and returns the site's next state in
 * both cases. Throws only when the file fails.
 */
export function admitChangeset(
  file: DatabaseFile,
  rules: AdmissionRules,
  site: SiteState,
  toDecide: ChangesetToDecide,
  sender: Sender,
): SiteState {
  const { changeset, hash, base, earlierSites, isOfOlderEpoch } = toDecide;
  const decided: SiteState = { ...site, principal: sender.principal, lastSequence: changeset.sequence, lastHash: hash };
  const stampUs = correctStampUs({
    ageUs: changeset.ageUs,
    receivedMs: sender.receivedMs,
    lastOfSiteUs: Math.max(site.lastStampUs, ...earlierSites.map((earlier) => earlier.stampUs)),
    seenUs: file.log.maxStampUsAt(base),
  });
  const version: WriteVersion = {
    stampUs,
    site: site.site,
    watermark: file.log.watermark + 1,
    ...(earlierSites.length > 0 && {
      earlierSites: new Map(earlierSites.map((earlier) => [earlier.site, earlier.watermark])),
    }),
  };
  // Only a re-created changeset can be a repetition: a site's own changesets are never decided twice.
  const isRepetition =
    changeset.origin === undefined
      ? file.anyOrigins.exist && wasRecreated(file.sql, identityOf(site, toDecide))
      : hasTakenEffect(file.sql, changeset.origin);
  try {
    const attempts = rules.failed?.get(changesetName(site.site, changeset.sequence));
    if (attempts !== undefined) throw new RockpoolError('changeset-failed', { attempts });
    const stored = file.sql.savepoint(() =>
      isRepetition
        ? acceptRepetition(file, toDecide, version)
        : applyChangeset(file, rules, toDecide, version, sender.principal),
    );
    file.log.append({
      watermark: version.watermark,
      siteNumber: site.number,
      sequence: changeset.sequence,
      hash,
      stampUs,
      base,
      isOfOlderEpoch,
      isRepetition,
      principal: sender.principal,
      receivedMs: sender.receivedMs,
    });
    file.columnBirths.record(version.watermark);
    saveOutcome(file.sql, site.number, hash, stored, sender.receivedMs);
    if (changeset.origin !== undefined && !isRepetition) {
      saveOrigin(file.sql, changeset.origin, sender.receivedMs);
      file.anyOrigins.forget();
    }
    return { ...decided, lastStampUs: stampUs };
  } catch (error) {
    if (!isRejection(error)) throw error;
    saveOutcome(
      file.sql,
      site.number,
      hash,
      {
        outcome: { kind: 'rejected', sequence: changeset.sequence, code: error.code, fields: error.fields },
        corrected: [],
      },
      sender.receivedMs,
    );
    return decided;
  }
}

function identityOf({ site }: SiteState, { changeset, hash }: HashedChangeset): ChangesetOrigin {
  return { siteId: Buffer.from(site, 'hex'), sequence: changeset.sequence, hash };
}

/**
 * Changes no row. The author has applied the changeset twice, as its own and as the other copy's, so every cell that it
 * writes is delivered to the author again.
 */
function acceptRepetition(
  file: DatabaseFile,
  { changeset }: ChangesetToDecide,
  { watermark }: Pick<WriteVersion, 'watermark'>,
): StoredOutcome {
  const { writes } = readChangeset(changeset.body, file);
  return {
    outcome: { kind: 'admitted', sequence: changeset.sequence, watermark, conflictCount: 0 },
    corrected: writes.map(({ table, keyBytes, values }) => ({
      tableId: table.schema.id,
      keyBytes,
      columnIds: [EXISTENCE_COLUMN_ID, ...values.keys()],
    })),
  };
}

/** Merges a changeset and writes the results: rows, versions, documents and conflicts. Throws the rejection. */
function applyChangeset(
  file: DatabaseFile,
  { checks, validate }: AdmissionRules,
  { changeset, base, isOfOlderEpoch, isFollowed }: ChangesetToDecide,
  version: WriteVersion,
  principal: string,
): StoredOutcome {
  const { atomic, writes } = readChangeset(changeset.body, file);
  const progress = { base, isOfOlderEpoch, isFollowed, isRecreated: changeset.origin !== undefined };
  const decided = mergeChangeset(file, writes, version, progress);
  const merged = new MergedRows(file, restoreParents(file, checks, decided, version, progress));
  const documentTexts = readDocumentTexts(file, merged.all());
  writeRows(file, merged, version, atomic);
  const reasons = cascadeDeletes(file, checks, merged, version, base);
  returnChildren(file, checks, merged, version, base);
  nullReferences(file, checks, merged, version, base, reasons);
  const rows = merged.all();
  // Runs before the checks of constraints: an author can retry after a conflict, so it must be reported first.
  if (atomic) requireWhole(rows, version);
  checkForeignKeys(file, checks, rows);
  if (validate !== null) requireValid(validate, rows, principal);
  recordHistory(file, rows, version.watermark, documentTexts);
  writeDocuments(file, rows, version.watermark);
  for (const { write, before, after } of rows) {
    if (after !== undefined && after !== before) writeKnownRow(file, write.table, write.keyBytes, after);
  }
  withdrawCascadeConflicts(file, rows, version.watermark);
  withdrawNullConflicts(file, rows, version, base);
  const conflictCount = rows.reduce((count, { conflicts }) => count + conflicts.length, 0);
  if (conflictCount > 0) {
    writeConflictRows(file, rows, version, (watermark) =>
      watermark === version.watermark ? principal : file.log.principalAt(watermark),
    );
  }
  const outcome = {
    kind: 'admitted',
    sequence: changeset.sequence,
    watermark: version.watermark,
    conflictCount,
  } as const;
  return { outcome, corrected: correctedRows(rows) };
}

/**
 * Errors of the changeset itself, which would occur again. Any other error fails the transaction, and the push may
 * succeed later.
 */
const REJECTIONS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'atomic-conflict',
  'changeset-failed',
  'changeset-invalid',
  'changeset-refused',
  'changeset-too-large',
  'constraint-check',
  'constraint-data-type',
  'constraint-foreign-key',
  'constraint-not-null',
  'constraint-primary-key',
  'constraint-unique',
  'document-gap',
  'document-invalid',
  'document-too-costly',
  'key-invalid',
  'schema-unknown-column',
  'schema-unknown-table',
  'value-invalid',
]);

function isRejection(thrown: unknown): thrown is RockpoolError {
  return thrown instanceof RockpoolError && REJECTIONS.has(thrown.code);
}
