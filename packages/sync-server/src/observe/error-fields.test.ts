import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { errorFields } from './log-line.ts';

it('the log names the code of PostgreSQL or of the operating system behind an error', () => {
  const fields = { problem: 'PostgreSQL', systemCode: '42P07' };
  expect(errorFields(new RockpoolError('database-unavailable', fields))).toMatchObject({
    code: 'database-unavailable',
    problem: 'PostgreSQL',
    systemCode: '42P07',
  });
  const full = Object.assign(new Error('a value'), { code: 'ENOSPC' });
  expect(errorFields(full)).toMatchObject({ code: 'internal', systemCode: 'ENOSPC' });
  expect(errorFields(new RockpoolError('database-damaged'))).toMatchObject({ systemCode: null });
  expect(JSON.stringify(errorFields(full))).not.toContain('a value');
});
