import { statSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { databaseIds } from './data-directory.ts';

const REFRESH_MS = 10_000;
const SLICE_DATABASES = 100;

/** The bytes that the databases of each tenant take on disk, measured in one pass and kept for 10 s. */
export class TenantSizes {
  private readonly dataDir: string;
  private readonly pathOf: (databaseId: string) => string;
  private readonly askTenant: (databaseId: string) => unknown;
  private readonly log: Logger;
  private byTenant = new Map<string, number>();
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

  /** Throws `database-unavailable` if the host cannot name the tenant of each database. */
  bytesOf(databaseId: string): number {
    if (performance.now() - this.measuredMs > REFRESH_MS) this.measure();
    return this.byTenant.get(this.tenantOf(databaseId)) ?? 0;
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
          // A folder that cannot be read now, or a tenant that the host cannot name, is measured at the next interval.
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
    return [...this.byTenant].sort(([, a], [, b]) => b - a).slice(0, count);
  }

  /** The number of tenants with at least one database, as last measured. */
  get count(): number {
    return this.byTenant.size;
  }

  /** The databases whose tenants use at least this number of bytes. */
  databasesOver(limitBytes: number): ReadonlySet<string> {
    return new Set(databaseIds(this.dataDir).filter((id) => (this.byTenant.get(this.tenantOf(id)) ?? 0) >= limitBytes));
  }

  /** A database of an unknown tenant must not count as the only one of its tenant. */
  private tenantOf(databaseId: string): string {
    try {
      const tenant = this.askTenant(databaseId);
      if (typeof tenant === 'string') return tenant;
      if (tenant instanceof Promise) tenant.catch(() => undefined);
      throw new TypeError('tenantOf did not return a text');
    } catch (error) {
      this.log('tenant-error', { database: databaseId, ...errorFields(error) });
      throw new RockpoolError('database-unavailable', { problem: 'the tenant of a database is unknown' });
    }
  }

  private async measureInSlices(): Promise<void> {
    const byTenant = new Map<string, number>();
    for (const [i, databaseId] of databaseIds(this.dataDir).entries()) {
      if (i % SLICE_DATABASES === 0) await new Promise((resolve) => setImmediate(resolve));
      const tenant = this.tenantOf(databaseId);
      byTenant.set(tenant, (byTenant.get(tenant) ?? 0) + this.sizeOf(databaseId));
    }
    this.byTenant = byTenant;
    this.measuredMs = performance.now();
  }

  private sizeOf(databaseId: string): number {
    const path = this.pathOf(databaseId);
    return ['', '-wal']
      .map((suffix) => statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  }

  private measure(): void {
    this.byTenant = new Map();
    for (const databaseId of databaseIds(this.dataDir)) {
      const tenant = this.tenantOf(databaseId);
      this.byTenant.set(tenant, (this.byTenant.get(tenant) ?? 0) + this.sizeOf(databaseId));
    }
    this.measuredMs = performance.now();
  }
}
