import { expect, it } from 'vitest';
import { fixOf } from './fix.ts';

it('what mends a check is a sentence, and the commands below it as they stand', () => {
  expect(fixOf('Renew the certificate there.')).toEqual({ words: 'Renew the certificate there.', code: null });
  expect(fixOf('Have the owner of the database run:\nALTER TABLE t;\n\n-- and restart the server')).toEqual({
    words: 'Have the owner of the database run:',
    code: 'ALTER TABLE t;\n\n-- and restart the server',
  });
});
