import { describe, expect, it } from 'vitest';
import { statementColumns, type Statement } from '../statement.ts';
import { isOfx, readStatements } from './statements.ts';

const sgml = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
ENCODING:USASCII
CHARSET:1252

<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>000123456789</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20250101<DTEND>20250131
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250131120000.000[-5:EST]<TRNAMT>-3.50<FITID>A1<NAME>Marmalade &amp; Moss<MEMO>CARD 4410</STMTTRN>
<STMTTRN>
<TRNTYPE>CREDIT
<DTPOSTED>20250125
<TRNAMT>100
<FITID>A2
<PAYEE><NAME>Employer<CITY>Here</PAYEE>
</STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>1</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;

const xml = `<?xml version="1.0" encoding="UTF-8"?>
<?OFX OFXHEADER="200" VERSION="211"?>
<OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>EUR</CURDEF><CCACCTFROM><ACCTID>4410</ACCTID></CCACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>POS</TRNTYPE><DTPOSTED>20250201</DTPOSTED><TRNAMT>-12,50</TRNAMT><FITID>B1</FITID><NAME><![CDATA[Fig & <Fennel>]]></NAME><MEMO></MEMO>
<ORIGCURRENCY><CURRATE>1.1</CURRATE><CURSYM>CHF</CURSYM></ORIGCURRENCY></STMTTRN>
<STMTTRN><TRNTYPE>POS</TRNTYPE><DTPOSTED>20250202</DTPOSTED><TRNAMT>-9.00</TRNAMT><FITID>B2</FITID><MEMO>Kiosk &#252;ber</MEMO><CURRENCY><CURRATE>1</CURRATE><CURSYM>CHF</CURSYM></CURRENCY></STMTTRN>
</BANKTRANLIST></CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>
`;

function read(text: string): readonly Statement[] {
  const result = readStatements(text);
  if (!result.ok) throw new Error(result.problem.code);
  return result.value;
}

function problem(text: string): string {
  const result = readStatements(text);
  return result.ok ? 'none' : result.problem.code;
}

describe('an OFX file', () => {
  it('is recognised by content, not by name', () => {
    expect([sgml, xml, sgml.toLowerCase()].map(isOfx)).toEqual([true, true, true]);
    expect(isOfx('Date,Payee,Amount\n2025-01-31,OFX,1\n')).toBe(false);
  });

  it('in version 1 is read without closing tags, with the day of the bank’s local time', () => {
    const [statement] = read(sgml);
    expect(statement?.accountNumber).toBe('6789');
    expect(statement?.table.rows.map(({ cells }) => cells)).toEqual([
      ['20250131', '-3.50', 'Marmalade & Moss', 'CARD 4410', 'USD', 'A1', ''],
      ['20250125', '100', 'Employer', '', 'USD', 'A2', ''],
    ]);
    expect(statement?.table.header[statementColumns.payee ?? -1]).toBe('Payee');
  });

  it('in version 2 is read as XML, with the currency of the amount and not of the original payment', () => {
    expect(read(xml)[0]?.table.rows.map(({ cells }) => cells)).toEqual([
      ['20250201', '-12,50', 'Fig & <Fennel>', '', 'EUR', 'B1', ''],
      ['20250202', '-9.00', 'Kiosk über', '', 'CHF', 'B2', ''],
    ]);
  });

  it('keeps the statements of several accounts apart', () => {
    const two = sgml.replace(
      '</BANKMSGSRSV1>',
      `</BANKMSGSRSV1>${xml.slice(xml.indexOf('<CREDIT'), xml.indexOf('</OFX>'))}`,
    );
    expect(read(two).map(({ accountNumber, table }) => [accountNumber, table.rows.length])).toEqual([
      ['6789', 2],
      ['4410', 2],
    ]);
  });

  it('is rejected if it is truncated at any point', () => {
    for (let length = 0; length < sgml.length - 1; length += 17)
      expect(problem(sgml.slice(0, length))).toBe('file-cut-off');
  });

  it('is rejected if it has no entries, with a different problem for a bank’s error response', () => {
    const empty = sgml.replace(/<STMTTRN>[\s\S]*<\/STMTTRN>/, '');
    expect(problem(empty)).toBe('file-has-no-entries');
    expect(problem('<OFX><SONRS><STATUS><CODE>15500<SEVERITY>ERROR</STATUS></SONRS></OFX>')).toBe('file-is-refusal');
  });

  it('yields rows or a problem for malformed content, never an exception', () => {
    for (const text of [
      '<OFX></OFX>',
      '<OFX><STMTTRN><NAME>lost</STMTTRN></OFX>',
      '<OFX><STMTRS><STMTTRN></STMTTRN></STMTRS></OFX>',
      '<OFX>&#99999999;<<<>></OFX>',
    ]) {
      expect(() => readStatements(text)).not.toThrow();
    }
  });

  it('yields payees without HTML entities, even if they were escaped twice', () => {
    const named = (name: string): string =>
      read(sgml.replace('Marmalade &amp; Moss', name))[0]?.table.rows[0]?.cells[2] ?? '';
    expect(named('Caf&eacute; &#39;Zur Post&#39;')).toBe("Café 'Zur Post'");
    expect(named('Moss &amp;amp; Sons&amp;rsquo; Caf&amp;eacute;')).toBe('Moss & Sons’ Café');
    expect(named('AT&T &unknown; R&D;')).toBe('AT&T &unknown; R&D;');
  });

  it('in version 1 may have empty elements, which end where the next one begins', () => {
    const [statement] = read(sgml.replace('<FITID>A1', '<DTUSER>\n<FITID>A1<CHECKNUM>'));
    expect(statement?.table.rows[0]?.cells).toEqual([
      '20250131',
      '-3.50',
      'Marmalade & Moss',
      'CARD 4410',
      'USD',
      'A1',
      '',
    ]);
  });

  it('yields the number of a check in the memo', () => {
    const [statement] = read(sgml.replace('<MEMO>CARD 4410', '<CHECKNUM>001042<MEMO>CARD 4410'));
    expect(statement?.table.rows[0]?.cells[3]).toBe('Check 1042 · CARD 4410');
  });
});
