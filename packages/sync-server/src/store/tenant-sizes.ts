import { statSync } from 'node:fs';
import { databaseIds } from './data-directory.ts';

const REFRESH_MS = 10_000;

/** The bytes that the databases of each tenant take on the disk, measured in one pass and kept for 10 s. */
export class TenantSizes {
  private readonly dataDir: string;
  private readonly pathOf: (databaseId: string) => string;
  private readonly tenantOf: (databaseId: string) => string;
  private byTenant = new Map<string, number>();
  private measuredMs = -Infinity;

  constructor(
    dataDir: string,
    pathOf: (databaseId: string) => string,
    tenantOf: (databaseId: string) => string = (databaseId) => databaseId,
  ) {
    this.dataDir = dataDir;
    this.pathOf = pathOf;
    this.tenantOf = tenantOf;
  }

  bytesOf(databaseId: string): number {
    if (performance.now() - this.measuredMs > REFRESH_MS) this.measure();
    return this.byTenant.get(this.tenantOf(databaseId)) ?? 0;
  }

  private measure(): void {
    this.byTenant = new Map();
    for (const databaseId of databaseIds(this.dataDir)) {
      const path = this.pathOf(databaseId);
      const sizes = ['', '-wal'].map((suffix) => statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0);
      const tenant = this.tenantOf(databaseId);
      this.byTenant.set(
        tenant,
        sizes.reduce((sum, size) => sum + size, this.byTenant.get(tenant) ?? 0),
      );
    }
    this.measuredMs = performance.now();
  }
}
