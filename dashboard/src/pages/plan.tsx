// SPDX-License-Identifier: Apache-2.0
import {useState} from 'preact/hooks';
import {call, CallError} from '../api';
import type {Module, Plan as PlanAnswer} from '../api';
import {advice, count, general, lastPart, moduleList, num, number, percent, predicted,
  probability, sentence, trained, withInterval} from '../format';
import {Copy, Facts, Warnings} from '../parts';
import {linear} from '../scale';
import {helped} from '../help';

const asGood = (plan: PlanAnswer): string => {
  const p = num(plan.atLeastBestProbability);
  if (num(plan.differsIn) === 0 && plan.nearestTrial === plan.bestSeenTrial) {
    return '; it is the plan';
  }
  return Number.isNaN(p) ? '' : `; the plan is as good with ${probability(p)}`;
};

const TOOLS = ['torch', 'hf-trainer', 'peft', 'axolotl', 'llama-factory', 'ms-swift',
  'timm', 'unsloth'];

// The plan as the space of a study file; neighbours that train alike are one line.
export const asSpace = (study: string, modules: Module[]): string => {
  const howOf = (one: Module | undefined) =>
    one?.freeze || num(one?.rate) === 0 || one?.rank !== undefined && num(one.rank) === 0 ?
      'frozen' : one?.rank === undefined ? String(num(one?.rate)) :
        `{rank: ${num(one.rank)}, fixed: ${num(one.rate)}}`;
  const lines: string[] = [];
  for (let k = 0, next = 0; k < modules.length; k = next) {
    next = k + 1;
    const names = () => moduleList(modules.slice(k, next).map((one) => one.module));
    while (next < modules.length && howOf(modules[next]) === howOf(modules[k]) &&
      !moduleList(modules.slice(k, next + 1).map((one) => one.module)).includes(',')) ++next;
    lines.push(`    ${names()}: ${howOf(modules[k])}`);
  }
  return `# The plan of ${study}, in the place of "space" in its study file. A list such as
# [0, 2e-5] in the place of a rate searches that module again.
space:
  modules:
${lines.join('\n')}
`;
};

const STUDY_FILE = 'a study file';

// The plan as another tool reads it, as `frostline plan --for` prints it.
const InOtherTools = ({study, modules}: {study: string; modules: Module[]}) => {
  const [tool, setTool] = useState('');
  const [text, setText] = useState('');
  const ask = (name: string) => {
    setTool(name);
    setText(name === STUDY_FILE ? asSpace(study, modules) : '');
    if (name === '' || name === STUDY_FILE) return;
    call<PlanAnswer>('ImportanceService/GetPlan', {
      study: `studies/${study}`, forTool: name,
    }).then((plan) => setText(plan.inTool?.text ?? ''),
        (error: CallError) => setText(`${error.message}\n${error.fix}`));
  };
  return <>
    <h3>As a study, or in the words of another tool</h3>
    <label>Tool <select value={tool} {...helped('tool')}
      onChange={(event) => ask(event.currentTarget.value)}>
      <option value="">choose one</option>
      <option value={STUDY_FILE}>{STUDY_FILE}</option>
      {TOOLS.map((name) => <option value={name}>{name}</option>)}
    </select></label>
    {text === '' ? null : <>
      <pre class="log" tabIndex={0} role="region"
        aria-label={`The plan for ${tool}`}><code>{text}</code></pre>
      {tool === STUDY_FILE ? null :
        <Copy text={`frostline plan ${study} --for ${tool}`} />}
    </>}
  </>;
};

export const Plan = ({plan, study}: {plan: PlanAnswer; study: string}) => {
  const modules = plan.modules ?? [];
  const known = modules.map((one) => one.costOfFreezing).filter(
      (one) => one !== undefined && Number.isFinite(num(one.value)));
  const ends = known.flatMap((one) => [num(one?.lo80), num(one?.hi80)])
    .filter(Number.isFinite);
  const tolerance = num(plan.tolerance);
  const x = linear(Math.min(0, ...ends), Math.max(tolerance, 0, ...ends), 4, 156);
  const saved = [
    plan.trainedParametersKnown ?
      `${count(plan.trainedParametersSaved)} trained parameters` : '',
    Number.isNaN(num(plan.secondsSavedShare)) ? '' :
      `${percent(plan.secondsSavedShare)} of the seconds`].filter(Boolean);
  return <section class="card" id="plan">
    <header><h2>What to freeze, what to train</h2></header>
    <p class="says">{sentence(plan.verdict)}</p>
    <p class="note">{plan.options?.target}; losing {general(tolerance, 2)} does
      not matter. “Freezing safe” is the probability that freezing it, the rest
      as planned, costs no more.</p>
    <div class="scroll" tabIndex={0} role="region" aria-label="Plan by module">
      <table class="data plan"><caption class="unseen">Plan by module</caption>
        <thead><tr><th scope="col">Module</th><th scope="col">Advice</th>
          <th scope="col" class="right">Rate</th>
          <th scope="col" class="right">Freezing safe</th>
          <th scope="col">Cost of freezing, 80 %</th>
          <th scope="col"><span class="unseen">Cost, drawn</span></th>
        </tr></thead>
        <tbody>{modules.map((one) => {
          const said = advice(one);
          const cost = one.costOfFreezing;
          const p = num(one.freezeProbability);
          const drawn = cost !== undefined && Number.isFinite(num(cost.value));
          return <tr title={one.reason}>
            <th scope="row">{one.module}</th>
            <td><span class={`advice ${said.replace(' ', '-')}`}>{said}</span></td>
            <td class="right">{trained(one)}</td>
            <td class="right">{said === 'fixed' ? '-' : <><span class="gauge"
              aria-hidden="true"><span style={{width: `${
                Number.isFinite(p) ? p * 100 : 0}%`}} /></span>
            {probability(p)}</>}</td>
            <td>{said === 'fixed' ? '-' : withInterval(cost)}</td>
            <td>{drawn && said !== 'fixed' ? <svg width="160" height="18"
              aria-hidden="true">
              <rect x={Math.min(x(0), x(tolerance))} width={Math.max(2,
                Math.abs(x(tolerance) - x(0)))} height="18" class="band" />
              <line x1={x(0)} x2={x(0)} y1="0" y2="18" class="axis" />
              <line x1={x(num(cost?.lo80))} x2={x(num(cost?.hi80))} y1="9" y2="9"
                class="whisker" />
              <circle cx={x(num(cost?.value))} cy="9" r="4" class="mark" />
            </svg> : null}</td>
          </tr>;
        })}</tbody>
      </table>
    </div>
    <Facts of={[
      ['predicted', predicted(plan)],
      ['best seen', plan.bestSeenTrial ? <>{number(plan.bestSeenValue)},{' '}
        <a href={`#/${plan.bestSeenTrial}`}>trial {lastPart(plan.bestSeenTrial)}
        </a>; its luck taken off {withInterval(plan.bestSeenScore)}{asGood(plan)}</> : ''],
      ['nearest', plan.nearestTrial ? <a href={`#/${plan.nearestTrial}`}>
        {num(plan.differsIn) === 0 ?
          `trial ${lastPart(plan.nearestTrial)} is the plan` :
          `the plan differs from trial ${lastPart(plan.nearestTrial)} in ${
            num(plan.differsIn)} ${num(plan.differsIn) === 1 ? 'module' :
              'modules'}`}</a> : ''],
      ['saves', saved.join(', ')],
    ]} />
    <Warnings of={plan.warnings} />
    <h3>To look again, or to verify it</h3>
    <Copy text={`frostline plan ${study}`} />
    {(plan.verify ?? []).map((command) => <Copy text={command} />)}
    <h3>To train it with seeds of its own, and keep the best model</h3>
    <Copy text={`frostline apply ${study} --seeds 5 --export best-model`} />
    <InOtherTools study={study} modules={modules} />
  </section>;
};
