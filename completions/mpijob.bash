# bash completion for mpijob, printed by 'mpijob completion bash'
# The names of the jobs, of the cluster and namespace that the line names.
_mpijob_jobs() {
	local i at where=()
	for ((i = 2; i < COMP_CWORD - 1; i++)); do
		case ${COMP_WORDS[i]} in
		--namespace|-n|--kubeconfig|--context|--cluster|--user|--server|-s|--tls-server-name|--certificate-authority|--client-certificate|--client-key|--token|--as|--as-group|--as-uid)
			at=$((i + 1))
			[ "${COMP_WORDS[at]}" = = ] && at=$((i + 2))
			where+=("${COMP_WORDS[i]}" "${COMP_WORDS[at]}") ;;
		esac
	done
	"${COMP_WORDS[0]}" get -o name --request-timeout=2s "${where[@]}" </dev/null 2>/dev/null |
		sed -n 's|.*/\([a-z0-9.-]*\)$|\1|p' # compgen would expand other characters
}
_mpijob() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
	COMPREPLY=()
	case "${COMP_WORDS[1]} $before" in
	'get --output'|'get -o') COMPREPLY=($(compgen -W 'wide yaml json name' -- "$word")); return ;;
	'describe --output'|'describe -o'|'doctor --output'|'doctor -o') COMPREPLY=($(compgen -W 'json' -- "$word")); return ;;
	'submit --output'|'submit -o'|'wait --output'|'wait -o'|'suspend --output'|'suspend -o'|'resume --output'|'resume -o'|'scale --output'|'scale -o') COMPREPLY=($(compgen -W 'name yaml json' -- "$word")); return ;;
	'delete --output'|'delete -o') COMPREPLY=($(compgen -W 'name' -- "$word")); return ;;
	'validate --output'|'validate -o'|'default --output'|'default -o'|'render --output'|'render -o'|'convert --output'|'convert -o'|'flyte --output'|'flyte -o'|'plan --output'|'plan -o'|'diff --output'|'diff -o') COMPREPLY=($(compgen -W 'yaml json name' -- "$word")); return ;;
	'crd --output'|'crd -o') COMPREPLY=($(compgen -W 'yaml json' -- "$word")); return ;;
	'create --mpi') COMPREPLY=($(compgen -W 'openmpi intel mpich' -- "$word")); return ;;
	'create --tool') COMPREPLY=($(compgen -W 'mpirun mpiexec horovodrun deepspeed' -- "$word")); return ;;
	'create --backend') COMPREPLY=($(compgen -W 'gloo mpi pdsh openmpi' -- "$word")); return ;;
	'create --template') COMPREPLY=($(compgen -W 'pi osu nccl' -- "$word")); return ;;
	'convert --to') COMPREPLY=($(compgen -W 'v2beta1 v1 TrainJob' -- "$word")); return ;;
	'flyte --to') COMPREPLY=($(compgen -W 'v2beta1 v1' -- "$word")); return ;;
	'flyte --repair') COMPREPLY=($(compgen -W 'all none slots worker-command environment zero safe-launcher launcher-gpus primary-first one-launcher' -- "$word")); return ;;
	'wait --for') COMPREPLY=($(compgen -W 'condition=Succeeded condition=Failed condition=Running Running Finished delete' -- "$word")); return ;;
	'submit --validate'|'run --validate') COMPREPLY=($(compgen -W 'strict warn ignore true false' -- "$word")); return ;;
	'submit --dry-run'|'suspend --dry-run'|'resume --dry-run'|'scale --dry-run'|'delete --dry-run') COMPREPLY=($(compgen -W 'client server none' -- "$word")); return ;;
	'delete --cascade') COMPREPLY=($(compgen -W 'background foreground orphan' -- "$word")); return ;;
	'render --gang-scheduling'|'plan --gang-scheduling'|'diff --gang-scheduling') COMPREPLY=($(compgen -W 'volcano scheduler-plugins-scheduler' -- "$word")); return ;;
	esac
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'create validate set default render convert flyte explain crd plan diff submit get describe logs wait suspend resume scale delete doctor shadow-report run exec version completion help' -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
	create) options=' --image --workers --slots --gpus --mpi --tool --elastic --backend --env --run-launcher-as-worker --template --namespace --help' ;;
	validate) options=' --filename --output --reference --strict --silence --error --help' ;;
	set) options=' --output --remove --get --dry-run --diff --force --job --help' ;;
	default) options=' --filename --output --namespace --reference --help' ;;
	render) options=' --filename --output --namespace --cluster-domain --compact-hosts --wait-for-hosts --worker-readiness --ssh-port --user-variables --user-dns-policy --private-keys --network-policy --gang-safe-wait --gang-scheduling --priority-class --uid --with-key --reference --silence --error --help' ;;
	convert) options=' --filename --output --to --no-annotation --runtime --help' ;;
	flyte) options=' --output --to --name --config --execution --repair --namespace --help' ;;
	explain) options=' --help' ;;
	crd) options=' --output --full --help' ;;
	plan) options=' --filename --output --observed --now --namespace --job --cluster-domain --compact-hosts --wait-for-hosts --worker-readiness --ssh-port --user-variables --user-dns-policy --private-keys --network-policy --gang-safe-wait --ttl-deletes-job --clean-launcher --replace-workers --restart-gang --fail-invalid --fail-lost-worker --gang-scheduling --reference --help' ;;
	diff) options=' --output --namespace --job --cluster-domain --compact-hosts --wait-for-hosts --worker-readiness --ssh-port --user-variables --user-dns-policy --private-keys --network-policy --gang-safe-wait --gang-scheduling --reference --help' ;;
	submit) options=' --filename --output --namespace --timeout --server-side --force-conflicts --field-manager --validate --dry-run --wait --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	get) options=' --filename --output --namespace --all-namespaces --selector --watch --watch-only --no-headers --show-labels --ignore-not-found --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	describe) options=' --filename --output --namespace --show-events --operator-config --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	logs) options=' --namespace --follow --workers --all --pod --all-containers --previous --tail --since --timestamps --prefix --container --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	wait) options=' --filename --output --namespace --all-namespaces --selector --all --for --timeout --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	suspend) options=' --filename --output --namespace --all-namespaces --selector --all --dry-run --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	resume) options=' --filename --output --namespace --all-namespaces --selector --all --dry-run --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	scale) options=' --filename --output --namespace --replicas --workers --current-replicas --dry-run --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	delete) options=' --filename --output --namespace --all-namespaces --selector --all --ignore-not-found --timeout --dry-run --wait --cascade --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	doctor) options=' --output --namespace --all-namespaces --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	shadow-report) options=' --help' ;;
	run) options=' --filename --namespace --server-side --force-conflicts --field-manager --validate --local --rm --detach --job --timeout --resume --keep --allow-host-path --backoff-base --late-names --timings --cluster-domain --compact-hosts --wait-for-hosts --worker-readiness --ssh-port --user-variables --private-keys --clean-launcher --replace-workers --restart-gang --reference --warnings-as-errors --kubeconfig --context --cluster --user --server --tls-server-name --certificate-authority --insecure-skip-tls-verify --client-certificate --client-key --token --as --as-group --as-uid --request-timeout --help' ;;
	exec) options=' --namespace --container --help' ;;
	version) options=' --help' ;;
	completion) options=' --help' ;;
	help) options=' --man --help' ;;
	esac
	case $word in
	-*) COMPREPLY=($(compgen -W "$options" -- "$word")); return ;;
	esac
	case $before in
	=|--filename|--namespace|--selector|--timeout|--replicas|--workers|--current-replicas|--pod|--tail|--since|--container|--kubeconfig|--context|--cluster|--user|--server|--tls-server-name|--certificate-authority|--client-certificate|--client-key|--token|--as|--as-group|--as-uid|--request-timeout|-n|-l|-s|-c) compopt -o default; return ;;
	esac
	case "${COMP_WORDS[1]} $before" in
	"get -f") compopt -o default; return ;;
	"describe -f") compopt -o default; return ;;
	"wait -f") compopt -o default; return ;;
	"suspend -f") compopt -o default; return ;;
	"resume -f") compopt -o default; return ;;
	"scale -f") compopt -o default; return ;;
	"delete -f") compopt -o default; return ;;
	esac
	case ${COMP_WORDS[1]} in
	get|describe|logs|wait|suspend|resume|scale|delete) COMPREPLY=($(compgen -W "$(_mpijob_jobs)" -- "$word")) ;;
	*) compopt -o default ;;
	esac
}
complete -F _mpijob mpijob
