import { RockpoolError } from '@rockpool/shared';
import { requireRole } from './members.ts';
import { readJsonObject } from './read-body.ts';
import type { Route } from './route.ts';

/** Limits how long an unused invitation can be abused. */
const DEFAULT_TTL_MS = 7 * 24 * 3600 * 1000;
const LONGEST_TTL_MS = 30 * 24 * 3600 * 1000;

/**
 * Creates an invitation. Body `{ role, ttlMs? }`: 7 days by default, at most 30. Answers `{ code, expiresAtMs }`; the
 * code works once.
 */
export const invite: Route = {
  method: 'POST',
  path: '/databases/:databaseId/invitations',
  access: 'manage',
  answer: async ({ services, databaseId, request }) => {
    const { role, ttlMs = DEFAULT_TTL_MS } = await readJsonObject(request);
    if (typeof ttlMs !== 'number' || !(ttlMs > 0 && ttlMs <= LONGEST_TTL_MS))
      throw new RockpoolError('request-invalid', { problem: 'ttlMs must be a positive number of at most 30 days' });
    const expiresAtMs = Math.ceil(services.now() + ttlMs);
    const code = await services.members.invite({ databaseId, role: requireRole(role), expiresAtMs });
    return Response.json({ code, expiresAtMs }, { status: 201, headers: { 'cache-control': 'no-store' } });
  },
};

/** Redeems an invitation for the principal of the token. Body `{ code }`. Answers `{ databaseId, role }`. */
export const acceptInvitation: Route = {
  method: 'POST',
  path: '/invitations/accept',
  access: 'principal',
  answer: async ({ services, principal, request }) => {
    const { code } = await readJsonObject(request);
    if (typeof code !== 'string') throw new RockpoolError('request-invalid', { problem: 'code must be a string' });
    const accepted = await services.members.accept(code, principal, services.now());
    return Response.json(accepted);
  },
};
