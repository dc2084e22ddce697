import { RockpoolError, type SqlParam } from '@rockpool/client';
import { is, Param, Placeholder, type DriverValueEncoder } from 'drizzle-orm';

/**
 * Returns the parameters of a statement with its placeholders filled from `values`. The client rejects values that
 * SQLite cannot store. Throws `query-invalid` for a placeholder without a value and `value-invalid` for a value that
 * its column cannot encode. Drizzle's own errors have no codes, and its function also calls the encoder for null, which
 * fails for dates.
 */
export function fillParams(params: readonly unknown[], values: Readonly<Record<string, unknown>>): readonly SqlParam[] {
  return params.map((param) => {
    if (is(param, Placeholder)) return valueFor(param, values);
    if (is(param, Param) && is(param.value, Placeholder))
      return encode(param.encoder, valueFor(param.value, values), param.value.name);
    return param;
  }) as SqlParam[];
}

function valueFor({ name }: Placeholder, values: Readonly<Record<string, unknown>>): unknown {
  if (!Object.hasOwn(values, name))
    throw new RockpoolError('query-invalid', { problem: 'placeholder', placeholder: name });
  return values[name];
}

function encode(encoder: DriverValueEncoder<unknown, unknown>, value: unknown, placeholder: string): unknown {
  if (value === null) return null;
  try {
    return encoder.mapToDriverValue(value);
  } catch {
    // Omits the cause, because an encoder's message may quote the value.
    throw new RockpoolError('value-invalid', { placeholder });
  }
}
