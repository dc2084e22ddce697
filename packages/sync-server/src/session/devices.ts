import { RockpoolError, type ErrorData } from '@rockpool/shared';

/** An open session, for operators. */
export interface SessionFacts {
  readonly databaseId: string;
  /** 32 hex digits. */
  readonly site: string;
  readonly principal: string;
  /** Null if it is unknown or that of this machine. */
  readonly address: string | null;
  /** False while the session waits for its database or its first delivery. */
  readonly isJoined: boolean;
  readonly canWrite: boolean;
  readonly openedAtMs: number;
  /** When the last message of the client arrived. */
  readonly lastHeardMs: number;
  /**
   * The watermark that the client last confirmed on this session, in its current log epoch. Null if there is none yet.
   */
  readonly confirmedCursor: number | null;
  /** Bytes that were sent but not yet taken by the network. */
  readonly unreadBytes: number;
  /** What the pushes that are not decided yet take in memory, in bytes. */
  readonly waitingPushBytes: number;
}

/** How the last session of a device ended. */
export interface LastSession {
  readonly site: string;
  readonly principal: string;
  readonly address: string | null;
  readonly endedAtMs: number;
  /** The error that ended it. Null if the client left, or its connection broke. */
  readonly error: ErrorData | null;
}

/** The maximum number of sites that are kept per database, because a member can invent sites. */
const MAX_DEVICES_OF_DATABASE = 1_000;
const MAX_DATABASES = 10_000;

/**
 * How the last session of each device ended, since the server started, so that an operator sees what blocks a device.
 * Includes only principals that may read the database. The oldest are forgotten first.
 */
export class Devices {
  private readonly byDatabase = new Map<string, Map<string, LastSession>>();

  ended(
    databaseId: string,
    { error, ...rest }: Omit<LastSession, 'error'> & { readonly error: RockpoolError | null },
  ): void {
    // An Error would keep the ended session and its socket in memory: V8 keeps the objects whose methods were running
    // when it was created.
    const last = { ...rest, error: error === null ? null : dataOf(error) };
    const devices = this.byDatabase.get(databaseId) ?? new Map<string, LastSession>();
    this.byDatabase.delete(databaseId);
    this.byDatabase.set(databaseId, devices);
    const key = `${last.site} ${last.principal}`;
    devices.delete(key);
    devices.set(key, last);
    forgetOldest(devices, MAX_DEVICES_OF_DATABASE);
    forgetOldest(this.byDatabase, MAX_DATABASES);
  }

  /** The last sessions of a database, oldest first. */
  of(databaseId: string): readonly LastSession[] {
    return [...(this.byDatabase.get(databaseId)?.values() ?? [])];
  }

  forget(databaseId: string): void {
    this.byDatabase.delete(databaseId);
  }
}

/** Omits the outline of the schema, which is for the client and may be long. */
function dataOf({ code, fields }: RockpoolError): ErrorData {
  const { outline: _, ...others } = fields;
  return new RockpoolError(code, others).toData();
}

function forgetOldest(map: Map<string, unknown>, maxSize: number): void {
  for (const key of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(key);
  }
}
