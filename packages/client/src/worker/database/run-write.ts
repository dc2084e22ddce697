import { RockpoolError, type Schema } from '@rockpool/shared';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { Changelog } from '../changelog/changelog.ts';
import { documentTables } from '../documents/document-columns.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import { restoreConflict } from '../write/restore-conflict.ts';
import { dropRejected, replaceRejected, retryRejected, type RejectedParts } from '../write/retry-rejected.ts';
import { undoRequest } from '../write/undo-request.ts';
import type { Meta } from '../file/meta.ts';

export interface RequestParts extends RejectedParts {
  readonly schema: Schema;
  readonly changelog: Changelog;
  readonly meta: Meta;
}

/** Runs a write request: its statements, or its action. See `LocalDatabase.write`. */
export function runWrite(parts: RequestParts, request: WriteRequest, refusal?: RockpoolError): WriteOutcome {
  const { connection, schema, changelog, meta, transaction, tablesById } = parts;
  const { id, action } = request;
  if (refusal !== undefined)
    return transaction.runInternal(() => {
      throw refusal;
    }, id);
  switch (action?.kind) {
    case 'retry-rejected':
      return retryRejected(parts, action.sequence, id);
    case 'replace-rejected':
      return replaceRejected(parts, action.sequence, request);
    case 'drop-rejected':
      return dropRejected(parts, action.sequence, id);
    case 'change-document':
      if (documentTables(schema.tables).size === 0)
        throw new RockpoolError('document-unknown', { table: action.table, column: action.column });
      // The result is not stored with the request, because a document's text is far longer than a change, and pages
      // request many changes.
      return transaction.runRereadable(
        () => ({ atomic: false, results: [documentSupport().changeDocument(connection, schema, action)] }),
        () => [documentSupport().readDocument(connection, schema, action)],
        id,
      );
    case 'restore-conflict':
      return transaction.runInternal(() => {
        restoreConflict(connection, schema, action.conflictId);
        return { atomic: false };
      }, id);
    case 'undo':
      return undoRequest({ connection, changelog, transaction, tablesById }, action.requestId, id);
    case 'pause-sync':
    case 'resume-sync':
      return transaction.runInternal(() => {
        meta.set('sync_paused', action.kind === 'pause-sync' ? 1 : 0);
        return { atomic: false };
      }, id);
    case 'commit-transaction':
      // Only the leader that ran the transaction can commit it. If that leader has not done so, the transaction is
      // lost.
      return transaction.runInternal(() => {
        throw new RockpoolError('transaction-lost');
      }, id);
    default:
      return transaction.run(request);
  }
}
