import type { ReactNode } from 'react';
import { formatMinor } from '../money/format.ts';
import { locale } from './locale.ts';

/**
 * An amount of money: digits of one width, so that columns of them line up; what comes in is coloured, and signed for
 * those who see no colours.
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
