import type { Member, Role } from '@rockpool/sync-server';
import { isDatabaseId, isShareKey, makeShareKey } from '../src/budget/budget.ts';
import { isPersonName } from '../src/people/person-name.ts';
import { bodyText, parseObject, problem } from './body.ts';
import type { Budgets } from './budgets.ts';
import { principalOfKey, type People, type Person } from './people.ts';

export interface PeopleRoutes {
  readonly budgets: Pick<Budgets, 'check'>;
  readonly people: People;
  /** The sync server's membership functions; the sync server stores the roles. */
  readonly members: {
    list(databaseId: string): readonly Member[];
    setRole(databaseId: string, principal: string, role: Role | null): Promise<void>;
    invite(request: {
      readonly databaseId: string;
      readonly role: Role;
      readonly expiresAtMs: number;
      readonly invitedBy?: string;
    }): Promise<string>;
  };
  /**
   * Makes a principal a member of the budget to which a code invites. Undefined for a code that is unknown, used or
   * expired.
   */
  readonly acceptInvitation: (
    code: string,
    principal: string,
  ) => Promise<{ readonly databaseId: string; readonly role: Role } | undefined>;
  readonly now: () => number;
}

/** Long enough to be read at the weekend, short enough that a forgotten link expires soon. */
const invitationTtlMs: number = 7 * 24 * 3_600_000;

/** The access that a budget key grants. Undefined for an unknown key, or if its holder was removed. */
export function roleOfKey(
  { budgets, people, members }: Pick<PeopleRoutes, 'budgets' | 'people' | 'members'>,
  databaseId: string,
  key: string,
): { readonly role: Role; readonly person: Person | undefined } | undefined {
  // The budget's original key belongs to the household that created it.
  if (budgets.check(databaseId, key) === 'known') return { role: 'owner', person: undefined };
  const person = people.ofKey(databaseId, key);
  const role =
    person === undefined
      ? null
      : (members.list(databaseId).find(({ principal }) => principal === person.principal)?.role ?? null);
  return role === null ? undefined : { role, person };
}

/**
 * Manages who shares a budget. All but the second take `databaseId` and `shareKey`, either the budget's or the member's
 * own.
 * - `POST /api/invitations` `{ role }`, owners only: responds `{ code }`, which works once
 * - `POST /api/join` `{ code, name, shareKey? }`: responds `{ databaseId, shareKey, principal, role }`, with the
 *   member's own key. A device that chose the key may repeat the request, for example after a lost response; without a
 *   key, the server chooses one, and a repeated request is refused. 404 for a code that does not work
 * - `POST /api/people`: responds
 *   `{ people: [{ principal, name, role, joinedAtMs, self }], authors: [{ principal, name }] }`
 * - `POST /api/people/role` `{ principal, role }`, owners only; `null` removes. Invited members may remove themselves.
 *
 * 400 for an unreadable request, 403 for a key without the permission.
 */
export async function answerPeopleRoute(request: Request, routes: PeopleRoutes): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (!['/api/invitations', '/api/join', '/api/people', '/api/people/role'].includes(pathname)) return undefined;
  if (request.method !== 'POST') return problem(405, 'method-not-allowed');
  const text = await bodyText(request);
  if (text === undefined) return problem(413, 'request-too-large');
  const body = parseObject(text);
  if (body === undefined) return problem(400, 'request-invalid');
  if (pathname === '/api/join') return await join(body, routes);
  const { databaseId, shareKey } = body;
  if (!isDatabaseId(databaseId) || !isShareKey(shareKey)) return problem(400, 'request-invalid');
  const asking = roleOfKey(routes, databaseId, shareKey);
  if (asking === undefined) return problem(403, 'key-refused');
  if (pathname === '/api/people')
    return answer({
      people: listPeople(routes, databaseId, asking.person),
      authors: routes.people.authors(databaseId),
    });
  if (pathname === '/api/people/role') return await setRole(body, databaseId, asking, routes);
  if (asking.role !== 'owner') return problem(403, 'owners-only');
  if (!isRole(body['role'])) return problem(400, 'request-invalid');
  return answer({
    code: await routes.members.invite({
      databaseId,
      role: body['role'],
      expiresAtMs: routes.now() + invitationTtlMs,
      // The holder of the budget's original key cannot be removed.
      ...(asking.person && { invitedBy: asking.person.principal }),
    }),
  });
}

async function join(
  { code, name, shareKey = makeShareKey() }: Readonly<Record<string, unknown>>,
  { people, acceptInvitation, now }: PeopleRoutes,
): Promise<Response> {
  if (typeof code !== 'string' || typeof name !== 'string' || name.trim() === '' || !isPersonName(name))
    return problem(400, 'request-invalid');
  if (!isShareKey(shareKey)) return problem(400, 'request-invalid');
  const principal = principalOfKey(shareKey);
  const accepted = await acceptInvitation(code, principal);
  if (accepted === undefined) return problem(404, 'invitation-invalid');
  const { databaseId, role } = accepted;
  people.add(databaseId, { principal, name: name.trim(), joinedAtMs: now() }, shareKey);
  return answer({ databaseId, shareKey, principal, role });
}

function listPeople(
  { people, members }: PeopleRoutes,
  databaseId: string,
  asking: Person | undefined,
): readonly object[] {
  const roles = new Map(members.list(databaseId).map(({ principal, role }) => [principal, role]));
  return people.list(databaseId).flatMap((person) => {
    const role = roles.get(person.principal) ?? null;
    return role === null ? [] : [{ ...person, role, self: person.principal === asking?.principal }];
  });
}

async function setRole(
  { principal, role }: Readonly<Record<string, unknown>>,
  databaseId: string,
  asking: { readonly role: Role; readonly person: Person | undefined },
  { people, members }: PeopleRoutes,
): Promise<Response> {
  if (role !== null && !isRole(role)) return problem(400, 'request-invalid');
  const known = people.list(databaseId).find((person) => person.principal === principal);
  if (known === undefined) return problem(404, 'person-unknown');
  const leaves = role === null && known.principal === asking.person?.principal;
  if (asking.role !== 'owner' && !leaves) return problem(403, 'owners-only');
  await members.setRole(databaseId, known.principal, role);
  return answer({});
}

function isRole(value: unknown): value is Role {
  return value === 'owner' || value === 'editor' || value === 'viewer';
}

function answer(body: object): Response {
  return Response.json(body, { headers: { 'cache-control': 'no-store' } });
}
