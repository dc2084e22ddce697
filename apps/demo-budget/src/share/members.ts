import type { Budget, BudgetRole } from '../budget/budget.ts';
import type { KnownBudget } from '../budget/known-budgets.ts';

/** A member who accepted an invitation. */
export interface Person {
  readonly principal: string;
  readonly name: string;
  readonly role: BudgetRole;
  readonly joinedAtMs: number;
  /** The requesting member. */
  readonly self: boolean;
}

/** Why the server refused. */
export type PeopleProblem = 'unreachable' | 'not-allowed' | 'invitation-invalid' | 'failed';

export class PeopleError extends Error {
  readonly problem: PeopleProblem;

  constructor(problem: PeopleProblem) {
    super(sentences[problem]);
    this.problem = problem;
  }
}

const sentences: Readonly<Record<PeopleProblem, string>> = {
  unreachable: 'Members and invitations are kept on the server, which cannot be reached right now.',
  'not-allowed': 'Only owners can do that.',
  'invitation-invalid': 'This invitation was already used or has expired. Ask for a new one.',
  failed: 'The server could not do that. Try again.',
};

export async function fetchPeople(budget: Budget): Promise<readonly Person[]> {
  const { people } = (await ask('/api/people', keyOf(budget))) as { readonly people: readonly Person[] };
  return people;
}

/** Everyone who has authored changes, by principal: members, and devices of owners who have entered a name. */
export async function fetchAuthorNames(budget: Budget): Promise<ReadonlyMap<string, string>> {
  const { people, authors } = (await ask('/api/people', keyOf(budget))) as {
    readonly people: readonly Person[];
    readonly authors: readonly Pick<Person, 'principal' | 'name'>[];
  };
  return new Map([...people, ...authors].map(({ principal, name }) => [principal, name]));
}

/** Resolves to a code that admits one person, once, within a week. */
export async function invite(budget: Budget, role: BudgetRole): Promise<string> {
  const { code } = (await ask('/api/invitations', { ...keyOf(budget), role })) as { readonly code: string };
  return code;
}

/**
 * Redeems an invitation with the key that the member will have. Resolves to the budget with this key; a call that
 * repeats the code and the key resolves to the same budget.
 */
export async function join(code: string, name: string, key: string): Promise<KnownBudget> {
  const { databaseId, shareKey, principal, role } = (await ask('/api/join', {
    code,
    name,
    shareKey: key,
  })) as Budget & {
    readonly principal: string;
    readonly role: BudgetRole;
  };
  return { databaseId, shareKey, madeHere: false, membership: { principal, role } };
}

/** NULL removes the member; members may remove themselves. */
export async function setRole(budget: Budget, principal: string, role: BudgetRole | null): Promise<void> {
  await ask('/api/people/role', { ...keyOf(budget), principal, role });
}

/** The URL of an invitation; the code is after `#`, which browsers do not send to servers. */
export function invitationLink(code: string): string {
  return `${location.origin}${location.pathname}#${new URLSearchParams({ invitation: code }).toString()}`;
}

export function invitationOfHash(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('invitation');
}

function keyOf({ databaseId, shareKey }: Budget): Budget {
  return { databaseId, shareKey };
}

async function ask(path: string, body: object): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch {
    throw new PeopleError('unreachable');
  }
  if (response.ok) return await response.json();
  throw new PeopleError(
    response.status === 403
      ? 'not-allowed'
      : path === '/api/join' && response.status === 404
        ? 'invitation-invalid'
        : 'failed',
  );
}
