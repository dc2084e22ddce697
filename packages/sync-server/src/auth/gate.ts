import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { isPrincipalId, PRINCIPAL_PROBLEM, shortName } from './jwt.ts';
import type { Authenticate, Authorize, Principal } from './principal.ts';
import type { Operation } from './role.ts';

export interface GateOptions {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * How long a check may take. Less than the 15 s for which a client waits for the welcome, so that it learns the reason,
 * and more than the 10 s after which the server's own checks give up reading from PostgreSQL.
 */
export const ANSWER_WITHIN_MS = 12_000;

/**
 * Authenticates and authorizes every message and every request. Errors thrown by a host's own checks are logged here
 * and never reach a client.
 */
export class Gate {
  private readonly options: GateOptions;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Throws `auth-token-expired`, `auth-token-invalid` or `auth-unavailable`. */
  async authenticate(token: string): Promise<Principal> {
    try {
      const principal = await this.answerTo('authenticate', this.options.authenticate(token));
      if (principal.expiresAtMs <= this.options.now()) throw new RockpoolError('auth-token-expired');
      return this.checked(principal);
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
  allows(principal: Principal, databaseId: string, operation: Operation): boolean | Promise<boolean> {
    if (!isDatabaseId(databaseId)) return false;
    try {
      const answer = this.options.authorize(principal, databaseId, operation);
      if (typeof answer === 'boolean') return answer;
      // `await` accepts any value: without this check, a host in JavaScript that returns a role would allow everything.
      if (!isPromise(answer)) throw new TypeError('authorize returned neither a boolean nor a promise');
      return this.answerTo('authorize', answer).catch((error: unknown) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  /** Throws the refusal of the operation if the operation is not allowed. */
  async require(principal: Principal, databaseId: string, operation: Operation): Promise<void> {
    if (!(await this.allows(principal, databaseId, operation))) {
      throw new RockpoolError(
        operation === 'read' || !(await this.allows(principal, databaseId, 'read'))
          ? refusalOf('read')
          : refusalOf(operation),
      );
    }
  }

  /** Rejects with `auth-unavailable` if the host's function does not answer. */
  private async answerTo<Answer>(check: 'authenticate' | 'authorize', answer: Promise<Answer>): Promise<Answer> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.options.log('check-unanswered', { check, withinMs: ANSWER_WITHIN_MS });
        reject(new RockpoolError('auth-unavailable', { check, withinMs: ANSWER_WITHIN_MS }));
      }, ANSWER_WITHIN_MS);
      timer.unref();
    });
    try {
      return await Promise.race([answer, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The host's own function may return any id and name. The id is stored, and others see the name. */
  private checked(principal: Principal): Principal {
    const { id, name } = principal;
    if (!isPrincipalId(id)) {
      const problem = `the id of a principal ${PRINCIPAL_PROBLEM}`;
      this.options.log('authenticate-error', { code: 'auth-token-invalid', problem });
      throw new RockpoolError('auth-token-invalid');
    }
    // A row of a database has null where a user has no name.
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

function isPromise(answer: unknown): answer is Promise<boolean> {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
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
