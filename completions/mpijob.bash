# bash completion for mpijob, printed by 'mpijob completion bash'
_mpijob() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
	COMPREPLY=()
	case $before in
	--output|-o) COMPREPLY=($(compgen -W 'yaml json name' -- "$word")); return ;;
	--to) COMPREPLY=($(compgen -W 'v2beta1 v1 TrainJob' -- "$word")); return ;;
	--gang-scheduling) COMPREPLY=($(compgen -W 'volcano scheduler-plugins-scheduler' -- "$word")); return ;;
	esac
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'validate default render convert explain plan diff run exec version completion help' -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
	validate) options=' --filename --output --reference --strict --silence --error --help' ;;
	default) options=' --filename --output --namespace --reference --help' ;;
	render) options=' --filename --output --namespace --cluster-domain --compact-hosts --wait-for-hosts --gang-scheduling --priority-class --uid --with-key --reference --silence --error --help' ;;
	convert) options=' --filename --output --to --no-annotation --runtime --help' ;;
	explain) options=' --help' ;;
	plan) options=' --filename --output --observed --now --namespace --job --cluster-domain --compact-hosts --wait-for-hosts --gang-scheduling --reference --help' ;;
	diff) options=' --output --namespace --job --cluster-domain --compact-hosts --wait-for-hosts --gang-scheduling --reference --help' ;;
	run) options=' --filename --namespace --job --timeout --keep --allow-host-path --backoff-base --late-names --timings --cluster-domain --compact-hosts --wait-for-hosts --reference --help' ;;
	exec) options=' --namespace --container --help' ;;
	version) options=' --help' ;;
	completion) options=' --help' ;;
	help) options=' --man --help' ;;
	esac
	case $word in
	-*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
	*) compopt -o default ;;
	esac
}
complete -F _mpijob mpijob
