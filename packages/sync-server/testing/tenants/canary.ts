/*
 * Values that belong to one tenant and identify it wherever they appear: each has a unique mark and the number of the
 * tenant. They can be found in any bytes: frames, HTTP, SQLite files, JSON, log lines.
 */

/** `name`: ids of databases and sites, which a log may contain. Every other kind is a value of a row or a user. */
export type CanaryForm = 'integer' | 'name' | 'real' | 'text';

export interface Sighting {
  readonly form: CanaryForm;
  readonly tenant: number;
  /** The offset in the bytes. */
  readonly at: number;
}

const TENANT_DIGITS = 4;
const TEXT_MARK = 'canary-';
const NAME_MARK = 'tenant-';

/** A canary for texts, blobs, JSON and user names. */
export function canaryText(tenant: number, what: string | number): string {
  return `${TEXT_MARK}${tagOf(tenant)}-${what}`;
}

export function canaryDatabaseId(tenant: number): string {
  return `${NAME_MARK}${tagOf(tenant)}-home`;
}

/** Returns a canary of 16 bytes, for ids of sites and tabs. */
export function canaryId(tenant: number, number: number): Uint8Array {
  return Uint8Array.from(
    Buffer.from(`${NAME_MARK}${tagOf(tenant)}-${number.toString(36).padStart(TENANT_DIGITS, '0')}`),
  );
}

function tagOf(tenant: number): string {
  return tenant.toString(36).padStart(TENANT_DIGITS, '0');
}

/*
 * An integer canary has, from the top, 35 bits of mark, 21 of tenant and 6 of number. As a zigzag varint it has one
 * more bit at its end, so each of the three parts starts a byte.
 */
const INTEGER_MARK = 0x5_1ca7_a21en;
const INTEGER_MARK_SHIFT = 27n;
const INTEGER_TENANT_SHIFT = 6n;

/** `number` is at most 63. */
export function canaryInteger(tenant: number, number: number): bigint {
  return (INTEGER_MARK << INTEGER_MARK_SHIFT) | (BigInt(tenant) << INTEGER_TENANT_SHIFT) | BigInt(number);
}

function tenantOfInteger(value: bigint): number | null {
  return value >> INTEGER_MARK_SHIFT === INTEGER_MARK ? Number((value >> INTEGER_TENANT_SHIFT) & 0x1f_ffffn) : null;
}

/** A canary in a REAL column: 40 bits of mark, 20 of tenant, 4 of number. */
const REAL_MARK = 0x41_2ca7_a21en;
const REAL_MARK_SHIFT = 24n;
const REAL_TENANT_SHIFT = 4n;

/** `number` is at most 15. */
export function canaryReal(tenant: number, number: number): number {
  const bits = Buffer.alloc(8);
  bits.writeBigUInt64BE((REAL_MARK << REAL_MARK_SHIFT) | (BigInt(tenant) << REAL_TENANT_SHIFT) | BigInt(number));
  return bits.readDoubleBE();
}

function tenantOfReal(bits: bigint): number | null {
  return bits >> REAL_MARK_SHIFT === REAL_MARK ? Number((bits >> REAL_TENANT_SHIFT) & 0xf_ffffn) : null;
}

interface Trace {
  readonly form: CanaryForm;
  readonly mark: Buffer;
  /** Returns null for other bytes that begin with the mark. */
  readonly tenantAt: (bytes: Buffer, at: number) => number | null;
}

const VARINT_MARK = Buffer.from(
  [0n, 7n, 14n, 21n, 28n].map((shift) => Number((INTEGER_MARK >> shift) & 0x7fn) | (shift === 28n ? 0 : 0x80)),
);
const VARINT_TENANT_BYTES = 3;
const REAL_MARK_BYTES = Buffer.from(REAL_MARK.toString(16), 'hex');
/** In little-endian, the mark of a real follows the tenant and the number. */
const REAL_MARK_OFFSET = 3;

/** Every encoding in which a canary may leave a server. */
const TRACES: readonly Trace[] = [
  ...(
    [
      ['text', TEXT_MARK],
      ['name', NAME_MARK],
    ] as const
  ).flatMap(([form, mark]): Trace[] => [
    {
      form,
      mark: Buffer.from(mark),
      tenantAt: (bytes, at) =>
        tenantOfTag(bytes.toString('latin1', at + mark.length, at + mark.length + TENANT_DIGITS)),
    },
    // A blob or an id in JSON.
    {
      form,
      mark: Buffer.from(Buffer.from(mark).toString('hex')),
      tenantAt: (bytes, at) =>
        tenantOfTag(
          Buffer.from(
            bytes.toString('latin1', at + 2 * mark.length, at + 2 * (mark.length + TENANT_DIGITS)),
            'hex',
          ).toString('latin1'),
        ),
    },
  ]),
  {
    form: 'integer',
    mark: VARINT_MARK,
    tenantAt: (bytes, at) => tenantOfVarint(bytes.subarray(Math.max(0, at - VARINT_TENANT_BYTES), at)),
  },
  {
    form: 'integer',
    mark: Buffer.from((INTEGER_MARK >> 5n).toString(16).padStart(8, '0'), 'hex'),
    tenantAt: (bytes, at) => (at + 8 <= bytes.length ? tenantOfInteger(bytes.readBigUInt64BE(at)) : null),
  },
  {
    form: 'integer',
    mark: Buffer.from(commonStart(String(canaryInteger(0, 0)), String(canaryInteger(2 ** 21 - 1, 63)))),
    tenantAt: (bytes, at) => tenantOfInteger(BigInt(numberAt(bytes, at))),
  },
  {
    form: 'real',
    mark: Buffer.from(REAL_MARK_BYTES).reverse(),
    tenantAt: (bytes, at) =>
      at >= REAL_MARK_OFFSET ? tenantOfReal(bytes.readBigUInt64LE(at - REAL_MARK_OFFSET)) : null,
  },
  {
    form: 'real',
    mark: REAL_MARK_BYTES,
    tenantAt: (bytes, at) => (at + 8 <= bytes.length ? tenantOfReal(bytes.readBigUInt64BE(at)) : null),
  },
  {
    form: 'real',
    mark: Buffer.from(commonStart(String(canaryReal(0, 0)), String(canaryReal(2 ** 20 - 1, 15)))),
    tenantAt: (bytes, at) => tenantOfReal(bitsOf(Number(numberAt(bytes, at)))),
  },
];

/** Finds the canaries of all tenants in these bytes. */
export function* findCanaries(bytes: Buffer): Generator<Sighting, void, undefined> {
  for (const { form, mark, tenantAt } of TRACES) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
      const tenant = tenantAt(bytes, at);
      if (tenant !== null) yield { form, tenant, at };
    }
  }
}

function tenantOfTag(tag: string): number | null {
  return /^[0-9a-z]{4}$/.test(tag) ? Number.parseInt(tag, 36) : null;
}

function tenantOfVarint(bytes: Buffer): number | null {
  if (bytes.length < VARINT_TENANT_BYTES || bytes.some((byte) => byte < 0x80)) return null;
  return bytes.reduce((sum, byte, i) => sum | ((byte & 0x7f) << (7 * i)), 0);
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (a[length] === b[length]) length++;
  return a.slice(0, length);
}

/** Reads the digits at an offset. */
function numberAt(bytes: Buffer, at: number): string {
  return /^\d+(\.\d+)?/.exec(bytes.toString('latin1', at, at + 24))?.[0] ?? '0';
}

function bitsOf(value: number): bigint {
  const bits = Buffer.alloc(8);
  bits.writeDoubleBE(value);
  return bits.readBigUInt64BE();
}
