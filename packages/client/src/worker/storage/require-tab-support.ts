import { RockpoolError } from '@rockpool/shared';

/**
 * Throws when the APIs by which tabs find each other are missing. Browsers hide them from pages that were not served
 * over https (or from localhost).
 */
export function requireTabSupport(): void {
  const missing = [
    ...(navigator.locks === undefined ? ['Web Locks'] : []),
    ...(typeof BroadcastChannel === 'undefined' ? ['BroadcastChannel'] : []),
    ...(globalThis.isSecureContext ? [] : ['a secure context (https)']),
  ];
  if (missing.length > 0) throw new RockpoolError('storage-unsupported', { missing: missing.join(', ') });
}
