import type { ReactNode } from 'react';
import { formatMinor } from '../money/format.ts';
import { locale } from './locale.ts';

/**
 * An amount of money with tabular digits, so that columns align. Income is coloured, and signed so that colour is not
 * needed.
 */
export function Amount({
  minor,
  currency,
  signed = false,
}: {
  readonly minor: number | bigint;
  readonly currency: string;
  readonly signed?: boolean;
}): ReactNode {
  const incoming = signed && minor > 0;
  const text = formatMinor(minor, currency, locale);
  return (
    <span className={`amount${incoming ? ' amount-in' : ''}${minor < 0 ? ' amount-out' : ''}`}>
      {incoming ? `+${text}` : text}
    </span>
  );
}
