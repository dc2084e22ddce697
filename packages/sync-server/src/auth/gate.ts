import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { isPrincipalId, isTextList, PRINCIPAL_PROBLEM, shortName } from './jwt.ts';
import type { Authenticate, Authorize, Principal } from './principal.ts';
import { isRole, ROLES, type Operation } from './role.ts';

export interface GateOptions {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * How long the checks of one message or request may take together. Less than the 15 s for which a client waits for the
 * welcome, so that it learns the reason, and more than the 10 s after which the server's own checks give up reading
 * from PostgreSQL.
 */
export const ANSWER_WITHIN_MS = 12_000;

/**
 * Authenticates and authorizes every message and every request. Errors thrown by a host's own checks are logged here
 * and never reach a client. `askedMs` is the time of `performance.now()` at the first check of a message or request,
 * whose checks share one deadline. Default: now.
 */
export class Gate {
  private readonly options: GateOptions;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Throws `auth-token-expired`, `auth-token-invalid` or `auth-unavailable`. */
  async authenticate(token: string, askedMs: number = performance.now()): Promise<Principal> {
    try {
      const principal = await this.answerTo('authenticate', this.options.authenticate(token), askedMs);
      if (principal.expiresAtMs <= this.options.now()) throw new RockpoolError('auth-token-expired');
      return this.checked(withoutNulls(principal));
    } catch (error) {
      if (error instanceof RockpoolError) throw error;
      this.options.log('authenticate-error', errorFields(error));
      throw new RockpoolError('auth-token-invalid');
    }
  }

  /**
   * Responds synchronously if the host's check does, so that nothing can happen between a message and its effect.
   * Throws or rejects with `auth-unavailable` if the check does.
   */
  allows(
    principal: Principal,
    databaseId: string,
    operation: Operation,
    askedMs: number = performance.now(),
  ): boolean | Promise<boolean> {
    if (!isDatabaseId(databaseId)) return false;
    try {
      const answer = this.options.authorize(principal, databaseId, operation);
      if (typeof answer === 'boolean') return answer;
      return this.answerTo('authorize', answer, askedMs)
        .then(requireBoolean)
        .catch((error: unknown) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  /** Throws the refusal of the operation if the operation is not allowed. */
  async require(
    principal: Principal,
    databaseId: string,
    operation: Operation,
    askedMs: number = performance.now(),
  ): Promise<void> {
    if (!(await this.allows(principal, databaseId, operation, askedMs))) {
      throw new RockpoolError(
        operation === 'read' || !(await this.allows(principal, databaseId, 'read', askedMs))
          ? refusalOf('read')
          : refusalOf(operation),
      );
    }
  }

  /** Rejects with `auth-unavailable` if the host's function does not answer. */
  private async answerTo<Answer>(
    check: 'authenticate' | 'authorize',
    answer: Answer | Promise<Answer>,
    askedMs: number,
  ): Promise<Answer> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => {
          this.options.log('check-unanswered', { check, withinMs: ANSWER_WITHIN_MS });
          reject(new RockpoolError('auth-unavailable', { check, withinMs: ANSWER_WITHIN_MS }));
        },
        askedMs + ANSWER_WITHIN_MS - performance.now(),
      );
      timer.unref();
    });
    try {
      return await Promise.race([answer, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * The host's own function may return anything. The id is stored, others see the name, and a list that is a text would
   * contain every part of that text.
   */
  private checked(principal: Principal): Principal {
    const problem = problemOf(principal);
    if (problem !== null) {
      this.options.log('authenticate-error', { code: 'auth-token-invalid', problem });
      throw new RockpoolError('auth-token-invalid');
    }
    const { name } = principal;
    if (typeof name !== 'string') return principal;
    const shown = shortName(name);
    return shown === name ? principal : { ...principal, name: shown };
  }

  private refuse(error: unknown): false {
    if (error instanceof RockpoolError && error.code === 'auth-unavailable') throw error;
    this.options.log('authorize-error', errorFields(error));
    return false;
  }
}

/** What is wrong with a principal that the host returned, or null. */
function problemOf({ id, expiresAtMs, databases, role, formerly }: Principal): string | null {
  if (!isPrincipalId(id)) return `the id of a principal ${PRINCIPAL_PROBLEM}`;
  // A missing expiry, or a text, would never be reached.
  if (typeof expiresAtMs !== 'number' || Number.isNaN(expiresAtMs)) return 'expiresAtMs must be a number';
  if (databases !== undefined && !isTextList(databases)) return 'databases must be a list of texts';
  if (formerly !== undefined && !isTextList(formerly)) return 'formerly must be a list of texts';
  return role === undefined || isRole(role) ? null : `role must be one of ${ROLES.join(', ')}`;
}

const OPTIONAL_FIELDS = ['name', 'formerly', 'databases', 'role'] as const;

/** A row of a database has null where a user has no name or role. */
function withoutNulls(principal: Principal): Principal {
  const nulls = OPTIONAL_FIELDS.filter((field) => principal[field] === null);
  if (nulls.length === 0) return principal;
  return { ...principal, ...Object.fromEntries(nulls.map((field) => [field, undefined])) };
}

/** Without this check, a host in JavaScript that returns a role, or the text `false`, would allow everything. */
function requireBoolean(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new TypeError('authorize returned neither a boolean nor the promise of one');
}

/**
 * The error code for a refused operation. A principal without the right to read receives the same code for a database
 * of other users, a missing database and an invalid id, so the code reveals nothing.
 */
export function refusalOf(operation: Operation): ErrorCode {
  return operation === 'read' ? 'auth-database-forbidden' : 'auth-forbidden';
}

const DATABASE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text is a valid database id: 1 to 64 letters, digits, `_` and `-`, so never a path. */
export function isDatabaseId(text: string): boolean {
  return DATABASE_ID.test(text);
}
