import { statSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { databaseIds } from './data-directory.ts';

const REFRESH_MS = 10_000;
const SLICE_DATABASES = 100;

/** One pass over all databases. */
interface Measurement {
  readonly bytesByTenant: Map<string, number>;
  readonly tenants: Map<string, string>;
  /** The databases whose tenant the host could not name. */
  readonly unnamed: Set<string>;
}

const NOTHING: Measurement = { bytesByTenant: new Map(), tenants: new Map(), unnamed: new Set() };

/** The bytes that the databases of each tenant take on disk, measured in one pass and kept for 10 s. */
export class TenantSizes {
  private readonly dataDir: string;
  private readonly pathOf: (databaseId: string) => string;
  private readonly askTenant: (databaseId: string) => unknown;
  private readonly log: Logger;
  private measured = NOTHING;
  private measuredMs = -Infinity;
  private measuring: Promise<void> | null = null;

  constructor(
    dataDir: string,
    pathOf: (databaseId: string) => string,
    tenantOf: (databaseId: string) => string = (databaseId) => databaseId,
    log: Logger = () => undefined,
  ) {
    this.dataDir = dataDir;
    this.pathOf = pathOf;
    this.askTenant = tenantOf;
    this.log = log;
  }

  /** Throws `database-unavailable` if the host cannot name the tenant of the database. */
  bytesOf(databaseId: string): number {
    if (performance.now() - this.measuredMs > REFRESH_MS) this.measure();
    try {
      return this.measured.bytesByTenant.get(this.tenantOf(databaseId)) ?? 0;
    } catch (error) {
      this.log('tenant-error', { database: databaseId, databases: 1, ...errorFields(error) });
      throw tenantUnknown();
    }
  }

  /**
   * Measures every 10 s and then calls `onMeasured`. Measures in slices, so that other work of the thread waits only a
   * few milliseconds.
   */
  watch(onMeasured: () => void): () => void {
    const measure = (): Promise<void> =>
      this.measureInSlices()
        .then(onMeasured)
        .catch(() => {
          // A folder that cannot be read now is measured at the next interval.
        });
    void measure();
    const timer = setInterval(() => void measure(), REFRESH_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /**
   * The tenants with the most bytes, largest first, as last measured. Measures again in the background if that is more
   * than 10 s ago.
   */
  largest(count: number): readonly (readonly [tenant: string, bytes: number])[] {
    if (performance.now() - this.measuredMs > REFRESH_MS)
      this.measuring ??= this.measureInSlices()
        .catch(() => undefined)
        .finally(() => (this.measuring = null));
    return [...this.measured.bytesByTenant].sort(([, a], [, b]) => b - a).slice(0, count);
  }

  /** The number of tenants with at least one database, as last measured. */
  get count(): number {
    return this.measured.bytesByTenant.size;
  }

  /** The databases whose tenants use at least this number of bytes, as last measured. */
  databasesOver(limitBytes: number): ReadonlySet<string> {
    const { bytesByTenant, tenants } = this.measured;
    return new Set([...tenants].flatMap(([id, tenant]) => ((bytesByTenant.get(tenant) ?? 0) >= limitBytes ? id : [])));
  }

  /** The databases whose tenant the host could not name when they were last measured. */
  get unnamed(): ReadonlySet<string> {
    return this.measured.unnamed;
  }

  private tenantOf(databaseId: string): string {
    const tenant = this.askTenant(databaseId);
    if (typeof tenant === 'string') return tenant;
    if (tenant instanceof Promise) tenant.catch(() => undefined);
    throw new TypeError('tenantOf did not return a text');
  }

  private async measureInSlices(): Promise<void> {
    for (const done of this.steps())
      if (done % SLICE_DATABASES === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  private measure(): void {
    for (const _ of this.steps());
  }

  /**
   * Yields the number of databases before each one. A database whose tenant is unknown is left out: its host may fail
   * for its id only, and the other tenants keep their limits.
   */
  private *steps(): Generator<number> {
    const measured: Measurement = { bytesByTenant: new Map(), tenants: new Map(), unnamed: new Set() };
    const { bytesByTenant, tenants, unnamed } = measured;
    let failure: unknown;
    for (const [done, databaseId] of databaseIds(this.dataDir).entries()) {
      yield done;
      let tenant: string;
      try {
        tenant = this.tenantOf(databaseId);
      } catch (error) {
        failure ??= error;
        unnamed.add(databaseId);
        continue;
      }
      tenants.set(databaseId, tenant);
      bytesByTenant.set(tenant, (bytesByTenant.get(tenant) ?? 0) + this.sizeOf(databaseId));
    }
    const [database] = unnamed;
    // One line for all of them: the host may fail for every database.
    if (database !== undefined)
      this.log('tenant-error', { database, databases: unnamed.size, ...errorFields(failure) });
    this.measured = measured;
    this.measuredMs = performance.now();
  }

  private sizeOf(databaseId: string): number {
    const path = this.pathOf(databaseId);
    return ['', '-wal']
      .map((suffix) => statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  }
}

/** A database of an unknown tenant must not count as the only one of its tenant. */
export function tenantUnknown(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'the tenant of the database is unknown' });
}
