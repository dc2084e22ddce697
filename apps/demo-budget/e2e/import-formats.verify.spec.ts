import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';

const ofx = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
ENCODING:USASCII
CHARSET:1252

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>4711</BANKACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250603120000[+1:CET]<TRNAMT>-3.50<FITID>A1<NAME>Caf\u00e9 Nero</STMTTRN>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250604<TRNAMT>-900.00<FITID>A2<NAME>Rent &amp; Co</STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`;

test('an OFX file is imported as the bank wrote it, whatever its name, and the same entries are not imported twice', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  await addEntry(page, { payee: 'cafe café', amount: '3.50', date: '2025-06-01' });
  await chooseFile(page, { name: 'statement.txt', contents: Buffer.from(ofx, 'latin1') });
  const summary = page.getByRole('region', { name: 'Import', exact: true });
  await expect(summary).toContainText('1 new entry, 1 possible duplicate.');
  await importPreviewed(page, 1);
  await openAccount(page, 'Giro');
  await expect(ledgerRow(page, 'Rent & Co')).toContainText('-€900.00');
  await expectBalance(page, '-€903.50', '2 entries');

  // The bank sends the entry again, as XML, with a different date and name.
  const qfx = `<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?>${ofx
    .slice(ofx.indexOf('<OFX>'))
    .replace('20250604', '20250605')
    .replace(/<(DTPOSTED|TRNAMT|FITID|NAME|CURDEF|ACCTID|TRNTYPE)>([^<]*)/g, '<$1>$2</$1>')}`;
  await chooseFile(page, { name: 'statement.qfx', contents: qfx });
  await expect(summary).toContainText('1 possible duplicate');
  await expect(
    page.getByRole('table', { name: 'Preview' }).getByRole('row').filter({ hasText: 'Rent & Co' }),
  ).toContainText('Already there');
  await page.getByRole('checkbox', { name: /^Import row 1 anyway/ }).check();
  await importPreviewed(page, 1);
  await openAccount(page, 'Giro');
  await expect(ledgerRow(page, 'Café Nero')).toContainText('-€3.50');
});

test('an OFX file that is truncated, empty or an error from the bank changes nothing and is reported', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  const files = [
    [ofx.slice(0, -40), /is incomplete/],
    [ofx.replace(/<STMTTRN>[\s\S]*<\/STMTTRN>/, ''), /without any entries/],
    ['<OFX><SONRS><STATUS><CODE>15500<SEVERITY>ERROR</STATUS></SONRS></OFX>', /error message from the bank/],
  ] as const;
  for (const [contents, sentence] of files) {
    await chooseFile(page, { name: 'statement.ofx', contents });
    await expect(page.getByRole('alert')).toHaveText(sentence);
  }
  await openAccount(page, 'Giro');
  await expectBalance(page, '€0.00', '0 entries');
});
