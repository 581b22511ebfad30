// SPDX-License-Identifier: Apache-2.0
//
// The page: what is in the address decides which of pages/ is shown.
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {call, CallError, NOBODY, usePolled} from './api';
import {Compare} from './pages/compare';
import {Studies} from './pages/studies';
import {Study} from './pages/study';
import {Trial} from './pages/trial';
import {Workers} from './pages/workers';
import {useRoute} from './route';
import {helped, Helps} from './help';

const THEMES = {'': 'auto', light: 'light', dark: 'dark'} as const;

const stored = (): string => {
  try {
    return localStorage.getItem('theme') ?? '';
  } catch {
    return '';  // this browser keeps nothing
  }
};

const Theme = () => {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    try {
      localStorage.setItem('theme', theme);
    } catch {
      // It then holds until the page is closed.
    }
    window.dispatchEvent(new Event('themechange'));
  }, [theme]);
  return <label class="theme"><span class="unseen">Colours</span>
    <select value={theme} {...helped('theme')} onChange={(event) =>
      setTheme(event.currentTarget.value)}>
      {Object.entries(THEMES).map(([key, label]) =>
        <option value={key}>{label}</option>)}
    </select></label>;
};

const Login = () => {
  const [said, setSaid] = useState('');
  const send = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const answer = await fetch('./login', {method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({token: String(form.get('token')).trim()})})
      .catch(() => undefined);
    if (answer?.ok) return location.reload();  // the address stays
    const body = await answer?.json().catch(() => undefined);
    setSaid(body?.message ?? 'the coordinator does not answer');
  };
  return <main id="main"><form class="card login" onSubmit={send}>
    <h1>A token, please</h1>
    <p>This coordinator asks everybody who they are. An admin makes a token for
      you with <code>frostline token create --role viewer --subject
      NAME</code>.</p>
    <label>Token <input name="token" type="password" autocomplete="off"
      required autofocus {...helped('token')} /></label>
    <button type="submit" {...helped('login')}>Let me in</button>
    <p role="alert">{said}</p></form></main>;
};

const Pages = () => {
  const {parts, view} = useRoute();
  const [kind, id, tab = '', at = ''] = parts;
  useEffect(() => {
    const name = [id, tab, at].filter(Boolean).join(' ') || kind || 'studies';
    document.title = `${name} · Frostline`;
  }, [kind, id, tab, at]);
  if (kind === 'workers') return <Workers over={view.get('over') ?? ''} />;
  if (kind === 'compare' && id) return <Compare first={id} second={tab} />;
  if (kind === 'studies' && id && tab === 'trials' && at) {
    return <Trial id={id} at={at} />;
  }
  if (kind === 'studies' && id) return <Study key={id} {...{id, tab, view}} />;
  return <Studies find={view.get('find') ?? ''} />;
};

const App = () => {
  const {parts} = useRoute();
  const [refused, setRefused] = useState(0);
  useEffect(() => {
    const note = () => setRefused((count) => Math.min(count + 1, 1));
    window.addEventListener(NOBODY, note);
    return () => window.removeEventListener(NOBODY, note);
  }, []);
  const who = usePolled(`who ${refused}`, () => call<{identity?: {subject?: string;
    role?: string}}>('AdminService/WhoAmI', {}), 30000);
  const info = usePolled('info', () => call<{pageWrites?: boolean}>(
      'AdminService/GetInfo', {}), 0);
  const nobody = who.error instanceof CallError &&
    who.error.code === 'unauthenticated';
  return <>
    <a class="skip" href="#main" onClick={(event) => {
      event.preventDefault();
      const main = document.getElementById('main');
      main?.setAttribute('tabindex', '-1');
      main?.focus();
    }}>To the content</a>
    <header class="bar"><a class="brand" href="#/">
      <svg width="22" height="22" viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" class="logo" />
        <path d="M3 5h10M3 8h10M3 11h6" class="rune" /></svg>Frostline</a>
      <nav aria-label="Pages"><a href="#/" aria-current={
        parts[0] === 'workers' ? undefined : 'page'}>Studies</a>
      <a href="#/workers" aria-current={
        parts[0] === 'workers' ? 'page' : undefined}>Workers</a></nav>
      <Theme /></header>
    {who.error?.code === 'unavailable' ? <p class="away" role="alert">
      The coordinator does not answer; this page shows what it said last.</p> :
      null}
    {nobody ? <Login /> : <Pages />}
    <footer class="quiet">{info.data?.pageWrites ? 'This page changes what its caller may.' :
      'This page only reads.'} Whatever it shows, the command
      line prints: <code>frostline help</code></footer>
    <Helps />
  </>;
};

const at = document.getElementById('page');
if (at) {
  at.textContent = '';
  render(<App />, at);
}
