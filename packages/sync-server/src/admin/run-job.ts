import { statSync } from 'node:fs';
import { decodeSchema, RockpoolError } from '@rockpool/shared';
import { fetchDatabase } from '../backup/fetch-database.ts';
import { listCopies } from '../backup/generations.ts';
import { sourceOfFile } from '../backup/object-names.ts';
import { openDestination } from '../backup/open-destination.ts';
import { requireContents } from '../backup/owner.ts';
import { planRestore } from '../backup/restore-plan.ts';
import { writePastDatabase } from '../history/write-past-database.ts';
import type { PostgresSource } from '../postgres/shard.ts';
import { copyDatabase, restoreDatabase } from '../store/copy-database.ts';
import { databaseFileName } from '../store/data-directory.ts';
import { damageProblems } from '../store/damage-problems.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { fileHash } from '../store/file-hash.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { inspectSites } from '../store/inspect-sites.ts';
import { PostgresAdministration } from '../store/postgres/administration.ts';
import type { AdminJob, CopiedFile, DatabaseFacts, FetchedBackup, JobSource } from './admin-jobs.ts';

/** Runs a job on the calling thread. Throws like the functions of the store. */
export async function runJob(job: AdminJob): Promise<unknown> {
  switch (job.kind) {
    case 'inspect':
      return withFile(job.source, (path): DatabaseFacts => ({
        summary: inspectDatabase(path),
        sites: inspectSites(path),
      }));
    case 'export':
      return exportTo(job.source, job.to);
    case 'export-past':
      return withFile(job.source, (path) =>
        writePastDatabase(path, job.to, { moment: { timeMs: job.timeMs }, nowMs: job.nowMs }),
      );
    case 'fetch-backup':
      return fetchBackup(job);
    case 'create':
      return openDatabaseFile(job.to, decodeSchema(job.schema), { databaseId: job.databaseId }).sql.close();
    case 'create-in-postgres':
      return inPostgres(job.postgres, (administration) => administration.create(job.databaseId));
    case 'stage':
      return stage(job);
    case 'import-to-postgres':
      requireDatabase(job.from);
      return inPostgres(job.postgres, (administration) => administration.import(job.databaseId, job.from));
    case 'delete-in-postgres':
      return inPostgres(job.postgres, (administration) => administration.delete(job.databaseId));
  }
}

async function exportTo(source: JobSource, to: string): Promise<CopiedFile> {
  if ('path' in source) {
    const problems = await damageProblems(source.path);
    if (problems.length > 0)
      throw new RockpoolError('database-damaged', { count: problems.length, problems: problems.join('\n') });
  }
  await withFile(source, (path) => copyDatabase(path, to));
  return { path: to, sizeBytes: statSync(to).size, sha256: await fileHash(to) };
}

async function fetchBackup({
  place,
  databaseId,
  to,
  atMs,
}: Extract<AdminJob, { readonly kind: 'fetch-backup' }>): Promise<FetchedBackup> {
  const destination = openDestination(place, process.env);
  const plan = planRestore(await listCopies(destination, sourceOfFile(databaseFileName(databaseId))), atMs);
  if (plan === null) {
    await requireContents(destination);
    throw new RockpoolError('request-invalid', { problem: 'the backup has no copy from that time' });
  }
  const { timeMs, watermark } = await fetchDatabase(destination, plan, to, { atMs });
  return { timeMs, watermark };
}

/** Opening the staged file migrates it, or throws `schema-incompatible` before anything is changed. */
function stage({ databaseId, schema, from, to }: Extract<AdminJob, { readonly kind: 'stage' }>): void {
  requireDatabase(from);
  restoreDatabase(from, to, databaseId);
  openDatabaseFile(to, decodeSchema(schema), { databaseId }).sql.close();
}

function requireDatabase(path: string): void {
  try {
    inspectDatabase(path);
  } catch (error) {
    throw new RockpoolError('request-invalid', { problem: 'the body is not a Rockpool database' }, { cause: error });
  }
}

function withFile<Result>(source: JobSource, work: (path: string) => Result): Promise<Result> | Result {
  if ('path' in source) return work(source.path);
  return inPostgres(source.postgres, (administration) => administration.withCopy(source.databaseId, work));
}

function inPostgres<Result>(
  source: PostgresSource,
  work: (administration: PostgresAdministration) => Promise<Result>,
): Promise<Result> {
  return PostgresAdministration.use(source, work);
}
