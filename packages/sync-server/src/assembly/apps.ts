import type { Hono } from 'hono';
import { createAdminApp } from '../admin/admin-app.ts';
import { Lifecycle } from '../admin/lifecycle.ts';
import { createApp } from './create-app.ts';
import { operationOf } from '../auth/role.ts';
import { readCopyFacts } from '../backup/copy-record.ts';
import { openDestination } from '../backup/open-destination.ts';
import { ChangeRates } from '../routes/change-rates.ts';
import { HttpSessions } from '../session/http-sessions.ts';
import { SESSION_LIMITS } from '../session/limits.ts';

import { SERVER_VERSION } from '../sync-server.ts';
import type { Parts } from './base.ts';
import { busStates, isBusConnected } from './gauges.ts';
import { readableRows } from './open-parts.ts';

export function appOf(
  { base, gate, members, sockets, databases, forwarding, backupState }: Parts,
  isClosing: () => boolean,
): Hono {
  const { options, now, log, metrics, addressOf, diskWatch, stores, unservable } = base;
  return createApp({
    gate,
    origins: options.origins ?? [],
    addressOf,
    log,
    metrics,
    services: {
      log,
      members,
      changeRates: new ChangeRates({ ...SESSION_LIMITS, ...options.limits }),
      httpSessions: new HttpSessions(
        (...session) => sockets.begin(...session),
        forwarding === null ? '' : `${forwarding.instance}.`,
      ),
      forwarding,
      now,
      metrics,
      metricsAccess: options.metrics ?? 'public',
      readiness: async () => (isClosing() ? 'unavailable' : diskWatch.readiness()),
      damagedDatabases: () => databases.damagedCount,
      unservableDatabases: () => unservable.count,
      unavailableShards: () =>
        stores.shardStates === undefined
          ? null
          : [...stores.shardStates().values()].filter((state) => state !== 'ready').length,
      bus: () => {
        const states = busStates(stores, databases);
        return states.length === 0 ? null : isBusConnected(states) ? 'connected' : 'disconnected';
      },
      backup: backupState,
      historyAccess: operationOf(options.historyRole ?? 'viewer'),
      history: (databaseId, principal, request) =>
        databases.history(databaseId, request, readableRows(principal, databaseId), now()),
      pastState: (databaseId, principal, moment) =>
        databases.pastState(databaseId, moment, readableRows(principal, databaseId), now()),
      snapshot: (databaseId, schemaHash, principal) =>
        databases.snapshot(databaseId, schemaHash, readableRows(principal, databaseId)),
    },
  });
}

export function adminOf({ base, members, sockets, databases, jobs }: Parts): Hono | null {
  const { options, now, log, metrics, addressOf, stores, devices, unservable } = base;
  if (options.admin === undefined) return null;
  return createAdminApp({
    token: options.admin.token,
    addressOf,
    log,
    metrics,
    services: {
      store: stores.store,
      members,
      devices,
      sessions: () => sockets.facts(),
      jobs,
      lifecycle: new Lifecycle({
        dataDir: options.dataDir,
        databases,
        store: stores.store,
        hasFiles: options.postgres === undefined,
        members,
        devices,
        jobs,
        maxImportBytes: options.admin.maxImportBytes,
        onReleased: (databaseId) => unservable.check(databaseId),
      }),
      copyFacts: (databaseId) => (options.backup === undefined ? null : readCopyFacts(stores.store.pathOf(databaseId))),
      backupDestination: options.backup === undefined ? null : openDestination(options.backup, process.env),
      about: {
        version: SERVER_VERSION,
        schemaHash: options.schema.hash,
        store: options.postgres === undefined ? 'files' : 'postgres',
        threads: options.threads ?? 1,
      },
      now,
    },
  });
}
