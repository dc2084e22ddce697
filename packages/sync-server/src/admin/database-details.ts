import type { Invitation, Member } from '../auth/member-store.ts';
import type { DatabaseOutline } from '../store/database-outline.ts';
import type { DatabaseSummary } from '../store/inspect-database.ts';
import { missing } from './admin-refusal.ts';
import type { AdminRoute, AdminServices } from './admin-route.ts';
import { databaseState, type DatabaseState } from './database-state.ts';
import { deviceStates, type DeviceState } from './device-states.ts';

export interface DatabaseDetails {
  readonly id: string;
  readonly state: DatabaseState;
  readonly outline: DatabaseOutline;
  /** Identity, schema and the number of rows of each table. Null if the file cannot be read. */
  readonly summary: DatabaseSummary | null;
  readonly devices: readonly DeviceState[];
  readonly members: readonly Member[];
  readonly invitations: readonly Invitation[];
}

/** Returns the DatabaseDetails of a database. */
export const inspectDatabase: AdminRoute = {
  method: 'GET',
  path: '/databases/:databaseId',
  answer: ({ services, databaseId }) => services.lifecycle.reading(databaseId, () => describe(services, databaseId)),
};

async function describe(services: AdminServices, databaseId: string): Promise<Response> {
  const { store, members, devices, sessions, jobs, lifecycle } = services;
  if (!(await store.list()).includes(databaseId)) throw missing(databaseId);
  const outline = await store.outline(databaseId);
  const facts = outline.watermark === null ? null : await jobs.inspect(databaseId);
  const details: DatabaseDetails = {
    id: databaseId,
    state: databaseState(outline, lifecycle.isDrained(databaseId) ? 'draining' : null),
    outline,
    summary: facts?.summary ?? null,
    devices: deviceStates({
      watermark: facts?.summary.watermark ?? 0,
      sites: facts?.sites ?? [],
      sessions: sessions().filter((session) => session.databaseId === databaseId),
      lastSessions: devices.of(databaseId),
    }),
    members: members.list(databaseId),
    invitations: await members.invitations(databaseId),
  };
  return Response.json(details);
}
