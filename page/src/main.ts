import { mount } from 'svelte';
import App from './App.svelte';
import { startTheme } from './lib/frame.svelte';
import { session } from './lib/session.svelte';
import './page.css';

startTheme();
void session.start();
const target = document.getElementById('page')!;
// The outline of the frame was there before the script.
target.replaceChildren();
mount(App, { target });
