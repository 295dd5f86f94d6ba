import type { Command } from 'commander';
import { ignoredVariables, inspectSettings, problemsOfSettings, type SettingReport } from '#libs/infra/config';
import { redactText } from '#libs/infra/logging';
import { EXIT } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { present } from '../terminal.js';

/** `ags config`: every setting there is, and what is wrong with the current ones. */
export const registerConfigCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('config')
      .description(
        'Shows every setting, read from the environment: its value now, its default, and what it means. Passwords in ' +
          'URLs are not shown. Ends with 1 when the settings are not usable, and says everything that is wrong at once.',
      )
      .summary('show and check the settings')
      .option('--json', 'one JSON object a line: a setting each, at last the result')
      .action(({ json }: JsonOption) => {
        const settings = inspectSettings();
        const problems = problemsOfSettings();
        const [usable, ignored] = [problems.length === 0, ignoredVariables()];
        present(context.terminal, json === true, {
          objects: [...settings.map(viewOf), { object: 'config', usable, problems, ignored }],
          text: textOf(settings, problems, ignored),
        });
        if (!usable) context.exitCode = EXIT.refused;
      }),
    'npm run ags -- config',
    'SERVICE_ENV=production npm run --silent ags -- config --json',
  );
};

const viewOf = (setting: SettingReport) => ({
  object: 'setting',
  variable: setting.variable,
  value: shownValue(setting),
  is_set: setting.isSet,
  default: setting.default,
  description: setting.description,
  problem: setting.problem,
});

const textOf = (
  settings: readonly SettingReport[],
  problems: readonly string[],
  ignored: readonly string[],
): string => {
  const blocks = settings.map((setting) => {
    const value = shownValue(setting) ?? '(none)';
    const origin = setting.isSet ? '' : '  (default)';
    return [`${setting.variable}=${value}${origin}`, `    ${setting.description}`].join('\n');
  });
  const verdict =
    problems.length === 0
      ? 'These settings are usable.'
      : ['These settings are not usable:', ...problems.map((problem) => `  ${problem}`)].join('\n');
  const others = ignored.length === 0 ? [] : [`Not settings, and without effect: ${ignored.join(', ')}.`, ''];
  return [...blocks, '', ...others, verdict].join('\n');
};

const NOT_SHOWN = '[not shown]';

/** What may stand on a screen or in a ticket: never userinfo or the query of a URL, which may hold a password. */
const shownValue = ({ variable, value }: SettingReport): string | null => {
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
  if (text === '') return null;
  if (!variable.endsWith('_URL')) return redactText(text);
  return text.includes('://') && URL.canParse(text) ? redactText(text.replace(/[?#].*$/s, '?[redacted]')) : NOT_SHOWN;
};
