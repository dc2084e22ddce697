import fc from 'fast-check';
import { expect } from 'vitest';
import type { SyncServerOptions } from '../../src/sync-server.ts';
import type { SnapshotRules } from '../../src/snapshot/snapshots.ts';
import type { TestServer } from '../test-server.ts';
import type { CanaryForm } from './canary.ts';
import { asText, CanaryWatch } from './canary-watch.ts';
import { INTRUSIONS } from './tenant-intrusions.ts';
import { OWN_STEPS } from './tenant-steps.ts';
import { Tenant } from './tenant.ts';

/** Number of tenants at a time. */
const TENANTS = 3;

/**
 * Histories after which new tenants with new databases replace the old ones. Creating the databases and their snapshots
 * takes as long as some histories.
 */
const HISTORIES_PER_TENANCY = 25;

/** Maximum number of steps of one tenant in one history. */
const MAX_STEPS = 5;

/** A tenant requests its files repeatedly; most responses come from a cache. */
const SNAPSHOTS: Partial<SnapshotRules> = { minFileBytes: 1, maxTailChangesets: 1_000 };

/**
 * Every place that a tenant's rows reach, and their forms there. A search that never finds a canary would prove
 * nothing.
 */
export const SEEN_EVERYWHERE: Readonly<Record<string, readonly CanaryForm[]>> = {
  HTTP: ['integer', 'name', 'real', 'text'],
  feed: ['integer', 'name', 'real', 'text'],
  query: ['integer', 'real', 'text'],
  rule: ['integer', 'real', 'text'],
  snapshot: ['integer', 'name', 'real', 'text'],
  sockets: ['integer', 'name', 'real', 'text'],
};

const ownStep = fc.record({ does: fc.constantFrom(...Object.keys(OWN_STEPS)), key: fc.nat(5) });
const intrusion = fc.record({
  tries: fc.constantFrom(...Object.keys(INTRUSIONS)),
  neighbour: fc.integer({ min: 1, max: TENANTS - 1 }),
  key: fc.nat(5),
});
/** The steps of one tenant. */
const course = fc.array(fc.oneof({ weight: 3, arbitrary: ownStep }, { weight: 1, arbitrary: intrusion }), {
  minLength: 1,
  maxLength: MAX_STEPS,
});
type Course = typeof course extends fc.Arbitrary<infer Steps> ? Steps : never;

/**
 * Runs random histories of tenants of one server who act concurrently and try to reach each other's databases in every
 * known way. Every value of a tenant is a canary. Searches every byte that leaves the server, errors, and the log.
 */
export class TenantTrial {
  private readonly watch = new CanaryWatch();
  private readonly tenants = new Map<string, Tenant>();
  private entered = 0;

  /** The options to start the server with. */
  get options(): Partial<SyncServerOptions> {
    return {
      snapshots: SNAPSHOTS,
      validate: (databaseId, changeset) => this.tenants.get(databaseId)?.judge(changeset) ?? null,
    };
  }

  /**
   * `servers` is one server, or two instances of one. Runs `histories`, then more until the tenants have received their
   * own rows in every form and place, at most four times as many. Returns the places and forms: SEEN_EVERYWHERE unless
   * a place is out of reach.
   */
  async run(servers: readonly TestServer[], histories: number): Promise<Record<string, readonly CanaryForm[]>> {
    const [server, elsewhere = server] = servers as [TestServer, TestServer?];
    const publicPort = await elsewhere.openRecordedPort();
    let run = 0;
    const runHistories = (): Promise<void> =>
      fc.assert(
        fc.asyncProperty(fc.tuple(...Array.from({ length: TENANTS }, () => course)), async (courses) => {
          if (run++ % HISTORIES_PER_TENANCY === 0) await this.change(server, elsewhere);
          await this.live(courses);
          for (const path of ['/metrics', '/ready', '/health']) await (await publicPort.ask('GET', path)).text();
          this.watch.lookAtPublic(publicPort.take());
          for (const { events } of servers) this.watch.lookAtLog(asText(events.splice(0).map(withoutPrincipals)));
          expect(this.watch.leaks).toEqual([]);
        }),
        // A shorter history would start from the state that this one left, so shrinking is not possible.
        { numRuns: histories, endOnFailure: true },
      );
    try {
      do await runHistories();
      while (!this.hasSeenEverything() && run < histories * 4);
    } finally {
      await this.end();
      await publicPort.close();
    }
    for (const { events } of servers) this.watch.lookAtLog(asText(events.map(withoutPrincipals)));
    expect(this.watch.leaks).toEqual([]);
    return this.watch.sightings();
  }

  /** Histories are random, so a rare form, such as a REAL in a snapshot, may need more of them. */
  private hasSeenEverything(): boolean {
    const seen = this.watch.sightings();
    return Object.entries(SEEN_EVERYWHERE).every(([where, forms]) =>
      forms.every((form) => seen[where]?.includes(form)),
    );
  }

  /** Runs all tenants concurrently, and waits for each of them even if one fails. */
  private async live(courses: readonly Course[]): Promise<void> {
    const tenants = [...this.tenants.values()];
    const lived = await Promise.allSettled(courses.map((steps, i) => follow(tenants, i, steps)));
    for (const one of lived) if (one.status === 'rejected') throw one.reason;
    for (const tenant of tenants) await tenant.look();
  }

  private async change(server: TestServer, elsewhere: TestServer): Promise<void> {
    await this.end();
    for (let i = 0; i < TENANTS; i++) {
      const tenant = await Tenant.enter(server, elsewhere, this.watch, ++this.entered);
      this.tenants.set(tenant.databaseId, tenant);
      this.watch.keepSecret(tenant.number, tenant.token);
    }
  }

  private async end(): Promise<void> {
    for (const tenant of this.tenants.values()) await tenant.leave();
    this.tenants.clear();
    this.watch.forgetSecrets();
  }
}

async function follow(tenants: readonly Tenant[], index: number, steps: Course): Promise<void> {
  const tenant = tenants[index] as Tenant;
  for (const step of steps) {
    if ('does' in step) await OWN_STEPS[step.does]?.(tenant, step.key);
    else await INTRUSIONS[step.tries]?.(tenant, tenants[(index + step.neighbour) % tenants.length] as Tenant, step.key);
  }
}

/** The log names principals for its operator in these fields, and nowhere else. */
function withoutPrincipals({ event, fields }: { readonly event: string; readonly fields: object }): object {
  return { event, fields: { ...fields, principal: '', member: '' } };
}
